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
 * have come in the meantime into one buffer and hands it to the network at once. So many messages
 * cost one wake-up of the loop and one system call.
 *
 * <p>Messages that one thread adds leave in that order, and so do those of several threads that add
 * them under one lock. Thread-safe.
 */
public abstract class Outgoing<T> {

  /** The buffer is handed to the network when it has this many bytes. */
  private static final int CHUNK_BYTES = 1 << 16;

  /**
   * The most messages that are encoded before the buffer is handed on, since peers wait for the
   * first.
   */
  private static final int FLUSH_AFTER = 128;

  /** The loop does other things after this many messages. */
  private static final int TURN = 4_096;

  private final Channel channel;
  private final Queue<T> queue = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean scheduled = new AtomicBoolean();

  // Only the channel's loop uses these fields.
  private WireOutput out = newBuffer();
  private int encoded;

  /** Whether a message is being written; a failed message's handler may then add another one. */
  private boolean encoding;

  private static WireOutput newBuffer() {
    return new WireOutput(Framing.LENGTH_BYTES + Framing.CLIENT_FRAME_BYTES_MAX);
  }

  protected Outgoing(Channel channel) {
    this.channel = channel;
  }

  /**
   * Writes a message. Called by the channel's loop. Messages that are added meanwhile follow it.
   *
   * @return false if it is not to be sent after all; the written bytes are then dropped
   * @throws KryoBufferOverflowException if it is too large
   */
  protected abstract boolean write(WireOutput to, T message);

  /**
   * Called when a message cannot be sent: by the loop, or if that has ended by the thread that adds
   * it.
   */
  protected abstract void failed(T message, RuntimeException cause);

  /** Called before bytes are handed to the network; false drops them. For the loop. */
  protected boolean beforeFlush() {
    return true;
  }

  /**
   * Whether a message may be written now. If not, it waits until {@link #flush} is called when it
   * may. For the loop.
   */
  protected boolean mayWrite() {
    return true;
  }

  /** Called when the written bytes were handed to the network, or dropped. For the loop. */
  protected void handedOn() {}

  /** Whether the loop will call {@link #flush} soon by itself, so that no task is needed for it. */
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

  /** Sends the waiting messages. For the channel's loop. */
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
      out = newBuffer(); // a large message is no reason to keep a large buffer
    }
    if (beforeFlush()) {
      ByteBuf buffer = channel.alloc().ioBuffer(bytes);
      buffer.writeBytes(source, 0, bytes);
      channel.writeAndFlush(buffer, channel.voidPromise());
    }
    handedOn();
  }
}
