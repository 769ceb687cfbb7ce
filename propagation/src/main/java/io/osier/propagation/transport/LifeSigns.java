package io.osier.propagation.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.TimeUnit;

/**
 * Tells the other end of a connection that its bytes come, even if what it asks with waits behind
 * them: on a slow link a ping would take as long as all that was sent before it. Stands before the
 * framing. Used by the channel's loop only.
 */
final class LifeSigns extends ChannelInboundHandlerAdapter {
  private final Runnable sign;
  private boolean due;

  /**
   * Gives no signs yet.
   *
   * @param sign sends one
   */
  LifeSigns(Runnable sign) {
    this.sign = sign;
  }

  /** From now on gives one every {@link PeerTransport#PING_MILLIS} in which bytes came. */
  void start(Channel channel) {
    channel
        .eventLoop()
        .schedule(() -> giveIfDue(channel), PeerTransport.PING_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void giveIfDue(Channel channel) {
    if (channel.isActive()) {
      if (due) {
        give();
      }
      start(channel);
    }
  }

  /** Gives one now, because it was asked for. */
  void give() {
    due = false;
    sign.run();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object bytes) {
    due = true;
    ctx.fireChannelRead(bytes);
  }
}
