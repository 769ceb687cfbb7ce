package io.osier.core.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.osier.core.codec.WireInput;

/**
 * Reads frames (see {@link Framing}) one after another from where the network put them: what came
 * is copied once, as a whole, and each frame is decoded in its place. Grows with what has come, not
 * with what a length promises; a length over the limit is an error before that.
 *
 * <p>Can be paused between two frames; what has come by then waits, and nothing more is asked of
 * the network by this handler meanwhile. A new instance for each channel.
 *
 * <p>What a frame needs beyond the usual buffer is taken from a budget. Where that is spent, the
 * frame is refused by what has come of it, and the rest of it is dropped as it comes.
 */
public abstract class FrameReader extends ChannelInboundHandlerAdapter {
  private static final int BUFFER_BYTES = 1 << 16;
  private static final int BUFFER_BYTES_MIN = 1 << 10;

  /** So much of a frame that is refused has come at least. */
  private static final int HEAD_BYTES = 16;

  private static final byte[] NOTHING = {};

  private ByteBudget budget;
  private int frameBytesMax;
  private final WireInput input = new WireInput();
  private byte[] buffer = NOTHING; // a connection on which nothing comes costs nothing
  private long held; // of the budget, by the buffer
  private long skip;
  private int from;
  private int to;
  private boolean paused;
  private boolean reading;
  private boolean ended;

  /**
   * @param frameBytesMax the largest content of a frame, in bytes
   */
  protected FrameReader(int frameBytesMax) {
    this(frameBytesMax, ByteBudget.UNLIMITED);
  }

  /** As the other one, with a budget for large frames. */
  protected FrameReader(int frameBytesMax, ByteBudget budget) {
    this.frameBytesMax = frameBytesMax;
    this.budget = budget;
  }

  /** Sets the largest content of a frame, in bytes, from the next frame on. For the loop. */
  protected final void setFrameBytesMax(int bytes) {
    frameBytesMax = bytes;
  }

  /**
   * From now on large frames are taken from another budget, what is held included. For the loop.
   */
  protected final void setBudget(ByteBudget other) {
    other.take(held);
    budget.give(held);
    budget = other;
  }

  /** Takes one frame, which {@code content} is all of; that is valid during the call. */
  protected abstract void frame(ChannelHandlerContext ctx, WireInput content);

  /** Hears that all frames that have come were taken, or that reading was paused: time to flush. */
  protected abstract void frames(ChannelHandlerContext ctx);

  /**
   * Hears that there is no room for a frame, which is dropped.
   *
   * @param head its first bytes, at least {@link #HEAD_BYTES}; valid during the call
   * @param length of the frame, in bytes
   */
  protected void refused(ChannelHandlerContext ctx, WireInput head, int length) {
    throw new IllegalStateException("an unlimited budget is spent");
  }

  /** Hears that a frame has come in part. For the channel's loop. */
  protected void begun(ChannelHandlerContext ctx) {}

  /** Whether bytes are here that are no whole frame yet. For the channel's loop. */
  protected final boolean isInFrame() {
    return !ended && (to > from || skip > 0);
  }

  /** Hears that bytes have come: whichever they are, the other end lives. For the loop. */
  protected void heard() {}

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
      ctx.executor().execute(() -> takeAgain(ctx));
    }
  }

  /** As a task of the loop's, where what is thrown is told to no handler. */
  private void takeAgain(ChannelHandlerContext ctx) {
    try {
      take(ctx);
    } catch (Throwable e) {
      exceptionCaught(ctx, e);
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
      heard();
      drop(bytes);
      if (!makeRoom(bytes.readableBytes())) {
        refuse(ctx);
        drop(bytes);
        makeRoom(bytes.readableBytes());
      }
      int n = bytes.readableBytes();
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

  /** Hears what was thrown while frames were taken: none is taken any more. */
  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    ctx.fireExceptionCaught(cause);
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    ended = true;
    setBuffer(NOTHING);
    from = 0;
    to = 0;
  }

  /** Makes room at the end of the buffer; false if the budget has none and the frame can be. */
  private boolean makeRoom(int bytes) {
    if (bytes <= buffer.length - to) {
      return true;
    }
    int waiting = to - from;
    long wanted = (long) waiting + bytes;
    byte[] target = buffer;
    if (wanted > buffer.length) {
      int size = Math.toIntExact(Math.max(wanted, grown(waiting)));
      long more = beyond(size) - held;
      if (more > 0 && !budget.tryTake(more)) {
        if (waiting >= Framing.LENGTH_BYTES + HEAD_BYTES && isPart(waiting)) {
          return false;
        }
        budget.take(more);
      }
      held += more;
      target = new byte[size];
    }
    System.arraycopy(buffer, from, target, 0, waiting);
    buffer = target;
    from = 0;
    to = waiting;
    return true;
  }

  /** Twice the size, but no more than the frame that is coming needs. */
  private long grown(int waiting) {
    long doubled = Math.clamp(2L * buffer.length, BUFFER_BYTES_MIN, Integer.MAX_VALUE - 8);
    return isPart(waiting) ? Math.min(doubled, (long) Framing.LENGTH_BYTES + length()) : doubled;
  }

  /** Whether what waits is one frame that has not come whole: not what came during a pause. */
  private boolean isPart(int waiting) {
    return waiting >= Framing.LENGTH_BYTES && waiting - Framing.LENGTH_BYTES < length();
  }

  /**
   * Takes bytes for the frame that is being taken from the budget, to be given back when it is done
   * with. What the buffer holds of the budget becomes the frame's, so that one for which there is
   * just enough is not refused: the buffer is given up next.
   */
  protected final boolean tryKeep(long bytes) {
    long moved = Math.min(held, bytes);
    if (!budget.tryTake(bytes - moved)) {
      return false;
    }
    held -= moved;
    return true;
  }

  /** What the frame that is being taken, or refused, has of the budget already. */
  protected final long heldBytes() {
    return held;
  }

  private void refuse(ChannelHandlerContext ctx) {
    int length = length();
    int waiting = to - from - Framing.LENGTH_BYTES;
    input.set(buffer, from + Framing.LENGTH_BYTES, waiting);
    skip = (long) length - waiting;
    refused(ctx, input, length);
    from = 0;
    to = 0;
    shrink();
  }

  /** Drops what belongs to a frame that was refused. */
  private void drop(ByteBuf bytes) {
    if (skip > 0) {
      int n = (int) Math.min(skip, bytes.readableBytes());
      bytes.skipBytes(n);
      skip -= n;
    }
  }

  /**
   * A large frame is no reason to keep a large buffer. Nor are those that follow it without a pause
   * where it has got the buffer's bytes of the budget: they ask for theirs.
   */
  private void shrink() {
    int waiting = to - from;
    boolean isOver = waiting == 0 ? buffer.length > BUFFER_BYTES : held < beyond(buffer.length);
    if (isOver) {
      byte[] smaller = new byte[Math.max(BUFFER_BYTES, waiting)];
      System.arraycopy(buffer, from, smaller, 0, waiting);
      setBuffer(smaller);
      from = 0;
      to = waiting;
    }
  }

  private void setBuffer(byte[] other) {
    long needed = beyond(other.length);
    budget.take(needed);
    budget.give(held);
    held = needed;
    buffer = other;
  }

  private static long beyond(int bytes) {
    return Math.max(0, bytes - BUFFER_BYTES);
  }

  private void take(ChannelHandlerContext ctx) {
    reading = true;
    try {
      while (!paused && !ended && to - from >= Framing.LENGTH_BYTES) {
        int length = length();
        if (length < 0 || length > frameBytesMax) {
          throw StrangeProtocol.tooLong(length, frameBytesMax);
        }
        if (to - from - Framing.LENGTH_BYTES < length) {
          break;
        }
        int start = from + Framing.LENGTH_BYTES;
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
      }
      shrink();
      frames(ctx);
    }
  }

  private int length() {
    return Framing.getLength(buffer, from);
  }
}
