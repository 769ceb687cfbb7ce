package io.osier.proxy.protocol;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.TooLongFrameException;
import io.osier.core.codec.WireInput;
import java.util.Arrays;

/**
 * Reads frames (see {@link Framing}) one after another from where the network put them: what came
 * is copied once, as a whole, and each frame is decoded in its place. Grows with what has come, not
 * with what a length promises; a length over the limit is an error before that.
 *
 * <p>Can be paused between two frames; what has come by then waits, and nothing more is asked of
 * the network by this handler meanwhile. A new instance for each channel.
 */
public abstract class FrameReader extends ChannelInboundHandlerAdapter {
  private static final int LENGTH_BYTES = 4;
  private static final int BUFFER_BYTES = 1 << 16;

  private final int frameBytesMax;
  private final WireInput input = new WireInput();
  private byte[] buffer = new byte[BUFFER_BYTES];
  private int from;
  private int to;
  private boolean paused;
  private boolean reading;
  private boolean ended;
  private volatile long heardNanos = System.nanoTime();

  /**
   * A reader.
   *
   * @param frameBytesMax the largest content of a frame, in bytes
   */
  protected FrameReader(int frameBytesMax) {
    this.frameBytesMax = frameBytesMax;
  }

  /**
   * Takes one frame.
   *
   * @param content the frame's, and nothing else; valid during the call
   */
  protected abstract void frame(ChannelHandlerContext ctx, WireInput content);

  /** Hears that all frames that have come were taken, or that reading was paused: time to flush. */
  protected abstract void frames(ChannelHandlerContext ctx);

  /** Hears that a frame has come in part. For the channel's loop. */
  protected void begun(ChannelHandlerContext ctx) {}

  /** Whether bytes are here that are no whole frame yet. For the channel's loop. */
  protected final boolean isInFrame() {
    return !ended && to > from;
  }

  /** When bytes came last: whichever they were, the other end lives. By {@link System#nanoTime}. */
  public final long heardNanos() {
    return heardNanos;
  }

  /** Whether frames are being taken at this moment. For the channel's loop. */
  protected final boolean isReading() {
    return reading;
  }

  /** Stops to take frames, from the next on. For the channel's loop. */
  protected final void pause() {
    paused = true;
  }

  /** Takes frames again. For the channel's loop. */
  protected final void resume(ChannelHandlerContext ctx) {
    paused = false;
    if (!reading) { // otherwise those that are being taken go on
      // Not at once: this may be called while an answer is written, and would call itself again.
      ctx.executor().execute(() -> take(ctx));
    }
  }

  /** Takes no frames any more: what has come and what will come is dropped. For the loop. */
  protected final void end() {
    ended = true;
  }

  @Override
  public final void channelRead(ChannelHandlerContext ctx, Object message) {
    ByteBuf bytes = (ByteBuf) message;
    try {
      if (ended) {
        return;
      }
      heardNanos = System.nanoTime();
      int n = bytes.readableBytes();
      makeRoom(n);
      bytes.readBytes(buffer, to, n);
      to += n;
    } finally {
      bytes.release();
    }
    take(ctx);
    if (isInFrame()) {
      begun(ctx);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    ended = true;
  }

  private void makeRoom(int bytes) {
    if (bytes <= buffer.length - to) {
      return;
    }
    int waiting = to - from;
    long wanted = (long) waiting + bytes;
    byte[] target = buffer;
    if (wanted > buffer.length) {
      long size = Math.max(wanted, Math.min(2L * buffer.length, Integer.MAX_VALUE - 8));
      target = new byte[Math.toIntExact(size)];
    }
    System.arraycopy(buffer, from, target, 0, waiting);
    buffer = target;
    from = 0;
    to = waiting;
  }

  private void take(ChannelHandlerContext ctx) {
    reading = true;
    try {
      while (!paused && !ended && to - from >= LENGTH_BYTES) {
        int length = length();
        if (length < 0 || length > frameBytesMax) {
          throw new TooLongFrameException(
              "a frame of " + (length & 0xffffffffL) + " bytes is over the limit " + frameBytesMax);
        }
        if (to - from - LENGTH_BYTES < length) {
          break;
        }
        int start = from + LENGTH_BYTES;
        from = start + length;
        input.set(buffer, start, length);
        frame(ctx, input);
      }
    } catch (Throwable e) {
      ended = true; // what follows bad bytes has no meaning
      throw e;
    } finally {
      reading = false;
      if (from == to) {
        from = 0;
        to = 0;
        if (buffer.length > BUFFER_BYTES) {
          buffer = Arrays.copyOf(buffer, BUFFER_BYTES); // a large frame is no reason to keep it
        }
      }
      frames(ctx);
    }
  }

  private int length() {
    return (buffer[from] & 0xff) << 24
        | (buffer[from + 1] & 0xff) << 16
        | (buffer[from + 2] & 0xff) << 8
        | (buffer[from + 3] & 0xff);
  }
}
