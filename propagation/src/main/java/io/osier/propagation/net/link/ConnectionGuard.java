package io.osier.propagation.net.link;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Closes a connection that does not greet in time, or on which a frame has begun and does not get
 * on. A connection that has greeted and is silent between frames stays; so does a slow one that
 * carries at least a KiB a second. Stands before the framing in the pipeline; the handler that
 * reads the frames reports each complete one. Used by the channel's loop only, a new one for each
 * channel.
 */
public final class ConnectionGuard extends ChannelInboundHandlerAdapter {
  private static final long BYTES_PER_SECOND_MIN = 1L << 10;
  private static final int CHECKS = 4;

  private final PortGuard port;
  private final BooleanSupplier inFrame;
  private boolean greeted;
  private long frameNanos;
  private long heardNanos;
  private long bytes;
  private @Nullable Future<?> checks;

  /**
   * @param inFrame returns whether a frame was received in part
   */
  public ConnectionGuard(PortGuard port, BooleanSupplier inFrame) {
    this.port = port;
    this.inFrame = inFrame;
  }

  /** Notes that the greeting was accepted. */
  public void greeted() {
    greeted = true;
  }

  public void frame() {
    frameNanos = heardNanos;
    bytes = 0;
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    PortLimits limits = port.limits();
    long every = Math.max(1, limits.frameMillis() / CHECKS);
    ctx.executor()
        .schedule(() -> checkGreeting(ctx), limits.greetingMillis(), TimeUnit.MILLISECONDS);
    checks =
        ctx.executor()
            .scheduleWithFixedDelay(
                () -> checkFrame(ctx, now(ctx)), every, every, TimeUnit.MILLISECONDS);
    ctx.fireChannelActive();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    if (checks != null) {
      checks.cancel(false);
    }
    ctx.fireChannelInactive();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    heardNanos = now(ctx);
    if (bytes == 0) {
      frameNanos = heardNanos;
    }
    if (message instanceof ByteBuf received) {
      bytes += received.readableBytes();
    }
    ctx.fireChannelRead(message);
  }

  private static long now(ChannelHandlerContext ctx) {
    return ctx.executor().ticker().nanoTime();
  }

  private void checkGreeting(ChannelHandlerContext ctx) {
    if (!greeted && ctx.channel().isActive()) {
      close(ctx, "no greeting within " + port.limits().greetingMillis() + " ms");
    }
  }

  private void checkFrame(ChannelHandlerContext ctx, long now) {
    if (!ctx.channel().config().isAutoRead()) {
      heardNanos = now; // the other end may have sent something while the channel was not read
      frameNanos = now;
      return;
    }
    if (!inFrame.getAsBoolean()) {
      return;
    }
    long limit = port.limits().frameMillis();
    long silentMillis = (now - heardNanos) / 1_000_000;
    long tookMillis = (now - frameNanos) / 1_000_000;
    if (silentMillis > limit) {
      close(ctx, "a frame was left unfinished for " + limit + " ms");
    } else if (tookMillis > limit + bytes * 1_000 / BYTES_PER_SECOND_MIN) {
      close(ctx, "a frame came too slowly: " + bytes + " bytes in " + tookMillis + " ms");
    }
  }

  private void close(ChannelHandlerContext ctx, String why) {
    port.log(ctx.channel(), why);
    ctx.close();
  }
}
