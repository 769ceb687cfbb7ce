package io.osier.core.net;

import com.esotericsoftware.kryo.io.KryoBufferOverflowException;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.osier.core.codec.WireOutput;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Messages on their way to a channel. Any thread adds them; the channel's loop encodes those that
 * have come in the meantime into one buffer and gives it to the network at once. So many messages
 * cost one waking of the loop and one call of the kernel.
 *
 * <p>Messages that one thread adds leave in that order, and so do those of several threads that add
 * them under one lock. Thread-safe.
 */
public abstract class Outgoing<T> {

  /** What is encoded is handed on when it has so many bytes. */
  private static final int CHUNK_BYTES = 1 << 16;

  /** So many messages at most are encoded before those that wait for them get the first. */
  private static final int FLUSH_AFTER = 128;

  /** The loop does other things after so many messages. */
  private static final int TURN = 4_096;

  private final Channel channel;
  private final Queue<T> queue = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean scheduled = new AtomicBoolean();

  // Only the channel's loop touches what follows.
  private WireOutput out = newBuffer();
  private int encoded;

  /** Whether a message is being written: who is told that it is not sent may add another one. */
  private boolean encoding;

  private static WireOutput newBuffer() {
    return new WireOutput(Framing.LENGTH_BYTES + Framing.CLIENT_FRAME_BYTES_MAX);
  }

  protected Outgoing(Channel channel) {
    this.channel = channel;
  }

  /**
   * Writes a message. Called by the channel's loop. What is added meanwhile comes behind it.
   *
   * @return false if it is not to be sent after all; what was written is then dropped
   * @throws KryoBufferOverflowException if it is too large
   */
  protected abstract boolean write(WireOutput to, T message);

  /** Hears that a message cannot be sent. Called by the loop, or by who adds if that has ended. */
  protected abstract void failed(T message, RuntimeException cause);

  /** Hears before bytes are handed to the network; false if they must not be. For the loop. */
  protected boolean beforeFlush() {
    return true;
  }

  /**
   * Whether a message may be written now. Where it may not, it waits until {@link #flush} is called
   * when it may. For the loop.
   */
  protected boolean mayWrite() {
    return true;
  }

  /** Hears that what was written was handed to the network, or dropped. For the loop. */
  protected void handedOn() {}

  /** Whether the loop will call {@link #flush} soon by itself, so that it need not be asked to. */
  protected abstract boolean flushesSoon();

  public final void add(T message) {
    boolean inLoop = channel.eventLoop().inEventLoop();
    if (inLoop && !encoding && queue.isEmpty() && flushesSoon() && mayWrite()) {
      encode(message);
      if (encoded >= FLUSH_AFTER) {
        handOn();
      }
      return;
    }
    queue.add(message);
    if (!scheduled.get() && scheduled.compareAndSet(false, true)) {
      schedule();
    }
  }

  private void schedule() {
    try {
      channel.eventLoop().execute(this::flush);
    } catch (RejectedExecutionException e) {
      scheduled.set(false);
      T left;
      while ((left = queue.poll()) != null) {
        failed(left, e);
      }
    }
  }

  /** Sends what waits. For the channel's loop. */
  public final void flush() {
    scheduled.set(false);
    int handled = 0;
    T message;
    while (handled < TURN && mayWrite() && (message = queue.poll()) != null) {
      encode(message);
      handled++;
    }
    if (handled == TURN && scheduled.compareAndSet(false, true)) {
      schedule();
    }
    handOn();
  }

  private void encode(T message) {
    int start = out.position();
    try {
      if (!encode(start, message)) {
        out.setPosition(start);
      }
    } catch (RuntimeException e) {
      out.setPosition(start);
      if (e instanceof KryoBufferOverflowException && start > 0) {
        handOn(); // it was too large together with those before it
        encode(message);
        return;
      }
      failed(message, e);
    }
    if (out.position() >= CHUNK_BYTES) {
      handOn();
    }
  }

  private boolean encode(int start, T message) {
    out.writeInt(0);
    encoding = true;
    try {
      if (!write(out, message)) {
        return false;
      }
    } finally {
      encoding = false;
    }
    int end = out.position();
    int length = end - start - Framing.LENGTH_BYTES;
    Framing.putLength(out.getBuffer(), start, length);
    encoded++;
    return true;
  }

  private void handOn() {
    int bytes = out.position();
    if (bytes == 0) {
      return;
    }
    byte[] source = out.getBuffer();
    encoded = 0;
    out.setPosition(0);
    if (source.length > 4 * CHUNK_BYTES) {
      out = newBuffer(); // a large message is no reason to keep it
    }
    if (beforeFlush()) {
      ByteBuf buffer = channel.alloc().ioBuffer(bytes);
      buffer.writeBytes(source, 0, bytes);
      channel.writeAndFlush(buffer, channel.voidPromise());
    }
    handedOn();
  }
}
