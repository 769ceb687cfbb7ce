package io.osier.propagation.net.link;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;

/** Counts a connection's bytes, for its peer once that is known. For the channel's loop. */
public final class ByteCounter extends ChannelDuplexHandler {
  private LinkTraffic traffic;

  public ByteCounter(LinkTraffic traffic) {
    this.traffic = traffic;
  }

  public void countFor(LinkTraffic peer) {
    peer.sent(traffic.sentBytes());
    peer.received(traffic.receivedBytes());
    traffic = peer;
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (message instanceof ByteBuf bytes) {
      traffic.received(bytes.readableBytes());
    }
    ctx.fireChannelRead(message);
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    if (message instanceof ByteBuf bytes) {
      traffic.sent(bytes.readableBytes());
    }
    ctx.write(message, promise);
  }
}
