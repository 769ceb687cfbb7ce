package io.osier.propagation.transport;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.timeout.ReadTimeoutException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Carries out what a connection's {@link Liveness} decides: gives signs, and fails with {@link
 * ReadTimeoutException} when the other end is gone. Stands before the framing, so that a part of a
 * frame counts. Used by the channel's loop only, a new one for each channel.
 */
final class Heartbeat extends ChannelInboundHandlerAdapter {
  static final long SIGN_MILLIS = 1_000;
  static final long DEAD_MILLIS = 5_000;
  private static final long LOOK_MILLIS = 100;

  private final boolean asks;
  private final PeerMessage sign;
  private ChannelHandlerContext ctx;
  private Liveness liveness;
  private @Nullable Future<?> looks;

  private Heartbeat(boolean asks, PeerMessage sign) {
    this.asks = asks;
    this.sign = sign;
  }

  /** Of the end that dialled: it pings. */
  static Heartbeat asking() {
    return new Heartbeat(true, new PeerMessage.Ping());
  }

  /** Of the end that was dialled: it gives pongs. */
  static Heartbeat answering() {
    return new Heartbeat(false, new PeerMessage.Pong());
  }

  /** From now on signs are given. */
  void greeted() {
    liveness.greeted(now());
  }

  /** Gives a sign now. */
  void give() {
    liveness.signed();
    Wire.write(ctx.channel(), sign);
  }

  /** See {@link Liveness#busy}. */
  void busy(boolean isBusy) {
    liveness.busy(isBusy, now());
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    ctx = context;
    liveness =
        new Liveness(
            TimeUnit.MILLISECONDS.toNanos(SIGN_MILLIS),
            TimeUnit.MILLISECONDS.toNanos(DEAD_MILLIS),
            asks,
            now());
    looks =
        ctx.executor()
            .scheduleWithFixedDelay(this::look, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
    ctx.fireChannelActive();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    stopLooking();
    ctx.fireChannelInactive();
  }

  private void stopLooking() {
    if (looks != null) {
      looks.cancel(false);
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object bytes) {
    liveness.heard(now());
    context.fireChannelRead(bytes);
  }

  private void look() {
    switch (liveness.due(now())) {
      case SIGN -> Wire.write(ctx.channel(), sign);
      case DEAD -> {
        stopLooking();
        ctx.fireExceptionCaught(ReadTimeoutException.INSTANCE);
      }
      case NOTHING -> {}
    }
  }

  private long now() {
    return ctx.executor().ticker().nanoTime();
  }
}
