package io.osier.propagation.net.link;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.osier.core.tls.TlsTrouble;
import java.net.InetSocketAddress;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What both ends of a connection between datacenters do alike. */
public final class PeerWire {
  private static final Logger LOG = LoggerFactory.getLogger(PeerWire.class);
  private static final int FLUSH_AFTER = 64;

  private PeerWire() {}

  /** Lets what is sent by several threads leave together. */
  public static ChannelHandler flushes() {
    return new FlushConsolidationHandler(FLUSH_AFTER, true);
  }

  /** Sends a message in a frame of its own. For any thread. */
  public static ChannelFuture write(Channel channel, PeerMessage message) {
    return channel.writeAndFlush(PeerMessage.frame(message));
  }

  /** Does something in a connection's loop, unless that has ended. For any thread. */
  public static void inLoop(Channel channel, Runnable task) {
    try {
      channel.eventLoop().execute(task);
    } catch (RejectedExecutionException e) {
      LOG.debug("closed meanwhile", e);
    }
  }

  /** As {@link #inLoop}, at once where this is the loop. For any thread. */
  public static void inLoopNow(Channel channel, Runnable task) {
    if (channel.eventLoop().inEventLoop()) {
      task.run();
    } else {
      inLoop(channel, task);
    }
  }

  /** The time of a connection's loop, which tests step. */
  public static long nowNanos(ChannelHandlerContext ctx) {
    return ctx.executor().ticker().nanoTime();
  }

  /** Where the other end of a connection is, without the port that it has by chance. */
  public static String host(Channel channel) {
    return channel.remoteAddress() instanceof InetSocketAddress at
        ? at.getHostString()
        : String.valueOf(channel.remoteAddress());
  }

  /** Why something failed, in words. */
  public static String reason(Throwable cause) {
    return TlsTrouble.inWords(cause)
        .orElse(cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage());
  }
}
