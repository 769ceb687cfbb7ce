package io.osier.propagation.net.link;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.timeout.ReadTimeoutException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Carries out what a connection's {@link LinkLiveness} decides: sends signs of life, and fails with
 * {@link ReadTimeoutException} when the other end is gone. Stands before the framing in the
 * pipeline, so that a part of a frame counts. Used by the channel's loop only, a new one for each
 * channel.
 *
 * <p>A timer runs when something may be due. Bytes that come or go put that off; the timer is moved
 * at most twice an interval, and when it finds nothing due, it is set again.
 */
public final class Heartbeat extends ChannelDuplexHandler {
  /**
   * More than the pause between two statuses at rest, so that these are the only signs needed then.
   */
  public static final long SIGN_MILLIS = 2_200;

  public static final long DEAD_MILLIS = 5_000;

  private static final long FOLLOW_NANOS = TimeUnit.MILLISECONDS.toNanos(SIGN_MILLIS / 2);

  private final boolean asks;
  private final PeerMessage sign;
  private ChannelHandlerContext ctx;
  private LinkLiveness liveness;
  private long nextNanos;

  /** The timer of the next check; null if there is none. */
  private @Nullable Future<?> next;

  /** Whether the connection has ended, so that nothing is checked any more. */
  private boolean ended;

  private Heartbeat(boolean asks, PeerMessage sign) {
    this.asks = asks;
    this.sign = sign;
  }

  /** Returns a heartbeat for the end that dialled: it sends pings. */
  public static Heartbeat asking() {
    return new Heartbeat(true, new PeerMessage.Ping());
  }

  /** Returns a heartbeat for the end that was dialled: it sends pongs. */
  public static Heartbeat answering() {
    return new Heartbeat(false, new PeerMessage.Pong());
  }

  /** Begins to send signs of life. */
  public void greeted() {
    liveness.greeted(now());
    lookWhenDue();
  }

  public void give() {
    PeerWire.write(ctx.channel(), sign);
  }

  /** See {@link LinkLiveness#busy}. */
  public void busy(boolean isBusy) {
    liveness.busy(isBusy, now());
    lookWhenDue();
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    ctx = context;
    liveness =
        new LinkLiveness(
            TimeUnit.MILLISECONDS.toNanos(SIGN_MILLIS),
            TimeUnit.MILLISECONDS.toNanos(DEAD_MILLIS),
            asks,
            now());
    lookWhenDue();
    ctx.fireChannelActive();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    end();
    ctx.fireChannelInactive();
  }

  private void end() {
    ended = true;
    cancelLook();
  }

  private void cancelLook() {
    if (next != null) {
      next.cancel(false);
      next = null;
    }
  }

  private void lookWhenDue() {
    cancelLook();
    long due = liveness.dueNanos();
    if (!ended && due != Long.MAX_VALUE) {
      nextNanos = due;
      next = ctx.executor().schedule(this::look, Math.max(0, due - now()), TimeUnit.NANOSECONDS);
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object bytes) {
    liveness.heard(now());
    context.fireChannelRead(bytes);
    follow();
  }

  @Override
  public void write(ChannelHandlerContext context, Object bytes, ChannelPromise promise) {
    liveness.written(now());
    context.write(bytes, promise);
    follow();
  }

  /**
   * Sends an answer that is due, and moves the timer if that is worth it, after bytes came or went.
   */
  private void follow() {
    long due = liveness.dueNanos();
    long later = due - nextNanos;
    if (next == null || (later >= 0 && later < FOLLOW_NANOS)) {
      return; // no timer is needed, or it runs early, finds nothing due, and is set again
    }
    if (due - now() <= 0) {
      look();
    } else {
      lookWhenDue();
    }
  }

  private void look() {
    switch (liveness.due(now())) {
      case SIGN -> {
        lookWhenDue();
        PeerWire.write(ctx.channel(), sign);
      }
      case DEAD -> {
        end();
        ctx.fireExceptionCaught(ReadTimeoutException.INSTANCE);
      }
      case NOTHING -> lookWhenDue();
    }
  }

  private long now() {
    return ctx.executor().ticker().nanoTime();
  }
}
