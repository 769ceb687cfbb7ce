package io.osier.core.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.osier.core.codec.WireInput;

/**
 * Reads frames (see {@link Framing}) one after another: bytes from the network are copied once, as
 * a whole, and each frame is decoded in place. The buffer grows with the bytes that have come, not
 * with a length that is announced; a length over the limit is an error before that.
 *
 * <p>Can be paused between two frames; bytes that have come by then wait, and this handler requests
 * no more from the network meanwhile. A new instance for each channel.
 *
 * <p>Bytes that a frame needs beyond the usual buffer are taken from a budget. If the budget is
 * spent, the frame is refused after its first bytes, and the rest is dropped as it comes.
 */
public abstract class FrameReader extends ChannelInboundHandlerAdapter {
  private static final int BUFFER_BYTES = 1 << 16;
  private static final int BUFFER_BYTES_MIN = 1 << 10;

  /** At least this many bytes of a frame have come when it is refused. */
  private static final int HEAD_BYTES = 16;

  private static final byte[] NOTHING = {};

  private ByteBudget budget;
  private int frameBytesMax;
  private final WireInput input = new WireInput();
  private byte[] buffer = NOTHING; // a connection on which nothing comes costs nothing
  private long held; // the part of the budget that the buffer holds
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
   * Takes the bytes of large frames from another budget from now on, held ones included. For the
   * loop.
   */
  public final void setBudget(ByteBudget other) {
    other.take(held);
    budget.give(held);
    budget = other;
  }

  /**
   * Takes one frame.
   *
   * @param content exactly the frame's content; valid during the call
   */
  protected abstract void frame(ChannelHandlerContext ctx, WireInput content);

  /** Called when all frames that have come were taken, or reading was paused: time to flush. */
  protected abstract void frames(ChannelHandlerContext ctx);

  /**
   * Called when there is no room for a frame, which is dropped.
   *
   * @param head its first bytes, at least {@link #HEAD_BYTES}; valid during the call
   * @param length of the frame, in bytes
   */
  protected void refused(ChannelHandlerContext ctx, WireInput head, int length) {
    throw new IllegalStateException("an unlimited budget is spent");
  }

  /** Called when a frame has come in part. For the channel's loop. */
  protected void begun(ChannelHandlerContext ctx) {}

  /** Whether bytes are here that are no whole frame yet. For the channel's loop. */
  protected final boolean isInFrame() {
    return !ended && (to > from || skip > 0);
  }

  /** Called when any bytes have come, which shows that the other end lives. For the loop. */
  protected void heard() {}

  /** Whether frames are being taken at this moment. For the channel's loop. */
  protected final boolean isReading() {
    return reading;
  }

  /** Stops taking frames, from the next one on. For the channel's loop. */
  protected final void pause() {
    paused = true;
  }

  /** Takes frames again. For the channel's loop. */
  protected final void resume(ChannelHandlerContext ctx) {
    paused = false;
    if (!reading) { // otherwise the loop that takes frames goes on
      // Not at once: this may be called while an answer is written, and would call itself again.
      ctx.executor().execute(() -> takeAgain(ctx));
    }
  }

  /** Runs as a task of the loop, which would report an exception to no handler. */
  private void takeAgain(ChannelHandlerContext ctx) {
    try {
      take(ctx);
    } catch (Throwable e) {
      exceptionCaught(ctx, e);
    }
  }

  /** Takes no frames any more: everything that has come or will come is dropped. For the loop. */
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

  /**
   * Handles what was thrown while frames were taken, also after a pause. No more frames are taken
   * then, so the connection is of no use.
   */
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

  /**
   * Makes room at the end of the buffer; returns false if the budget has none and the frame can be
   * refused.
   */
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

  /** Returns twice the size, but no more than the frame that is coming needs. */
  private long grown(int waiting) {
    long doubled = Math.clamp(2L * buffer.length, BUFFER_BYTES_MIN, Integer.MAX_VALUE - 8);
    return isPart(waiting) ? Math.min(doubled, (long) Framing.LENGTH_BYTES + length()) : doubled;
  }

  /** Whether the waiting bytes are one frame that has come in part, and not frames of a pause. */
  private boolean isPart(int waiting) {
    return waiting >= Framing.LENGTH_BYTES && waiting - Framing.LENGTH_BYTES < length();
  }

  /**
   * Takes bytes for the frame that is being taken from the budget, to be given back when it is
   * handled. The buffer's share of the budget becomes the frame's, so that a frame for which there
   * is just enough is not refused: the buffer is given up next.
   */
  public final boolean tryKeep(long bytes) {
    long moved = Math.min(held, bytes);
    if (!budget.tryTake(bytes - moved)) {
      return false;
    }
    held -= moved;
    return true;
  }

  /** Returns how much of the budget the frame that is being taken, or refused, has already. */
  public final long heldBytes() {
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

  /** Drops bytes that belong to a refused frame. */
  private void drop(ByteBuf bytes) {
    if (skip > 0) {
      int n = (int) Math.min(skip, bytes.readableBytes());
      bytes.skipBytes(n);
      skip -= n;
    }
  }

  /**
   * Replaces a large buffer after a large frame. It also does so if frames follow without a pause
   * and the large frame has got the buffer's share of the budget: they take their own.
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
      ended = true; // bytes that follow bad ones have no meaning
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
