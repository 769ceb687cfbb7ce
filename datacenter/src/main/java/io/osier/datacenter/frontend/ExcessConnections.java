package io.osier.datacenter.frontend;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import io.osier.core.memory.OutOfMemory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

/**
 * Closes and counts the connections that are too many for a port; the first ones are told why.
 * Thread-safe.
 */
final class ExcessConnections {
  /** The most connections that are being told why they are closed. */
  private static final int REFUSALS_MAX = 32;

  /** The time for a client to read the refusal before its connection is closed. */
  static final long REFUSED_MILLIS = 100;

  private final AtomicInteger refusals = new AtomicInteger();
  private final LongAdder count = new LongAdder();

  /**
   * Tells a connection that it is one too many, unless too many are being told, and closes it.
   *
   * @param refusal makes the message
   */
  void refuse(Channel channel, Function<ByteBufAllocator, ByteBuf> refusal) {
    count.increment();
    if (refusals.incrementAndGet() > REFUSALS_MAX) {
      refusals.decrementAndGet();
      channel.close();
      return;
    }
    channel.closeFuture().addListener(f -> refusals.decrementAndGet());
    channel.pipeline().addLast(new Refusal(refusal));
    channel.eventLoop().schedule(() -> channel.close(), REFUSED_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Returns how many connections were refused since the start. */
  long count() {
    return count.sum();
  }

  /** Sends the refusal, and drops everything that comes. */
  private static final class Refusal extends ChannelInboundHandlerAdapter {
    private final Function<ByteBufAllocator, ByteBuf> answer;

    Refusal(Function<ByteBufAllocator, ByteBuf> answer) {
      this.answer = answer;
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
      ctx.writeAndFlush(answer.apply(ctx.alloc()));
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      ReferenceCountUtil.release(message);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      OutOfMemory.report(cause);
      ctx.close();
    }
  }
}
