package io.osier.bench.wan;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Carries one connection's bytes in one direction: reads them from one channel, holds them in a
 * {@link WanQueue}, and writes them to the other channel at their time of arrival. Stops reading
 * while the queue is full, and stops writing while the reader is slow, so that memory is bounded.
 * Used only by the event loop that both channels share.
 */
final class WanPipe extends ChannelInboundHandlerAdapter {
  private final WanQueue<ByteBuf> queue;
  private final Channel from;
  private final Channel to;
  private final LongConsumer delivered;
  private final Runnable whenClosed;

  /** The pipe of the other direction; null until both exist. */
  private @Nullable WanPipe opposite;

  private @Nullable Future<?> alarm;

  /** Whether the sender has closed both directions, so that nothing can be sent back. */
  private boolean gone;

  private boolean done;

  WanPipe(
      WanQueue<ByteBuf> queue,
      Channel from,
      Channel to,
      LongConsumer delivered,
      Runnable whenClosed) {
    this.queue = queue;
    this.from = from;
    this.to = to;
    this.delivered = delivered;
    this.whenClosed = whenClosed;
  }

  /** Sets the pipe of the other direction. */
  void setOpposite(WanPipe opposite) {
    this.opposite = opposite;
  }

  private WanPipe opposite() {
    return requireNonNull(opposite, "both pipes are there before anything comes");
  }

  private long now() {
    return from.eventLoop().ticker().nanoTime();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    ByteBuf bytes = (ByteBuf) message;
    queue.offer(bytes, bytes.readableBytes(), now());
    if (queue.isFull()) {
      from.config().setAutoRead(false);
    }
    setAlarm();
  }

  /** Writes the bytes that have arrived, and sets the alarm for the next ones. */
  void deliver() {
    long now = now();
    boolean any = false;
    while (to.isWritable()) {
      ByteBuf bytes = queue.poll(now);
      if (bytes == null) {
        break;
      }
      delivered.accept(bytes.readableBytes());
      to.write(bytes, to.voidPromise());
      any = true;
    }
    if (any) {
      to.flush();
    }
    if (queue.hasRoomAgain() && !from.config().isAutoRead()) {
      from.config().setAutoRead(true);
    }
    if (!done && queue.isEnded(now)) {
      done = true;
      finish();
    }
    setAlarm();
  }

  private void finish() {
    if (gone || opposite().done) {
      // The empty write lets everything that is still in the channel's buffer go out first.
      to.writeAndFlush(from.alloc().buffer(0)).addListener(ChannelFutureListener.CLOSE);
      from.close();
    } else if (to instanceof DuplexChannel duplex) {
      duplex.shutdownOutput();
    } else {
      to.close();
    }
  }

  /** Sets the alarm unless it is set: times of arrival only grow, so it is the earliest. */
  private void setAlarm() {
    if (alarm != null || done || !queue.isWaiting()) {
      return;
    }
    long nanos = queue.nextDueNanos() - now();
    if (nanos <= 0 && !to.isWritable()) {
      return; // goes on when the reader has caught up
    }
    alarm =
        from.eventLoop()
            .schedule(
                () -> {
                  alarm = null;
                  deliver();
                },
                Math.max(0, nanos),
                TimeUnit.NANOSECONDS);
  }

  /** Continues after a heal, and sends all held bytes again. */
  void restart() {
    if (alarm != null) {
      alarm.cancel(false);
      alarm = null;
    }
    queue.restart(now());
    deliver();
  }

  /** Ends the connection at both sides by a TCP reset. */
  void reset() {
    for (Channel channel : new Channel[] {from, to}) {
      try {
        channel.config().setOption(ChannelOption.SO_LINGER, 0);
      } catch (ChannelException e) {
        // It is closed already, which its pipe is about to be told.
      }
      channel.close();
    }
  }

  /** Closes both sides at once. */
  void close() {
    from.close();
    to.close();
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    if (ctx.channel().isWritable()) {
      opposite().deliver();
    }
    ctx.fireChannelWritabilityChanged();
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof ChannelInputShutdownEvent) {
      queue.end(now());
      setAlarm();
    }
    ctx.fireUserEventTriggered(event);
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    gone = true;
    queue.end(now());
    opposite().queue.clear(ReferenceCountUtil::release); // the receiver is gone
    if (!to.isActive()) {
      queue.clear(ReferenceCountUtil::release);
      whenClosed.run();
    } else if (done) {
      to.close(); // the half that was still open has lost its other end
    } else {
      setAlarm();
    }
    ctx.fireChannelInactive();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    ctx.close(); // a reset by either side ends the connection
  }
}
