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

/** Functions that both ends of a connection between datacenters use. */
public final class PeerWire {
  private static final Logger LOG = LoggerFactory.getLogger(PeerWire.class);
  private static final int FLUSH_AFTER = 64;

  private PeerWire() {}

  /** Returns a handler that flushes what several threads send at once together. */
  public static ChannelHandler flushes() {
    return new FlushConsolidationHandler(FLUSH_AFTER, true);
  }

  /** Sends a message in a frame of its own. For any thread. */
  public static ChannelFuture write(Channel channel, PeerMessage message) {
    return channel.writeAndFlush(PeerMessage.frame(message));
  }

  /** Runs a task in a connection's loop, unless the loop has ended. For any thread. */
  public static void inLoop(Channel channel, Runnable task) {
    try {
      channel.eventLoop().execute(task);
    } catch (RejectedExecutionException e) {
      LOG.debug("closed meanwhile", e);
    }
  }

  /** As {@link #inLoop}, but at once if the caller is in the loop. For any thread. */
  public static void inLoopNow(Channel channel, Runnable task) {
    if (channel.eventLoop().inEventLoop()) {
      task.run();
    } else {
      inLoop(channel, task);
    }
  }

  /** Returns the time of a connection's loop, which tests step. */
  public static long nowNanos(ChannelHandlerContext ctx) {
    return ctx.executor().ticker().nanoTime();
  }

  /** Returns the other end's address of a connection, without its port, which is arbitrary. */
  public static String host(Channel channel) {
    return channel.remoteAddress() instanceof InetSocketAddress at
        ? at.getHostString()
        : String.valueOf(channel.remoteAddress());
  }

  /** Returns in words why something failed. */
  public static String reason(Throwable cause) {
    return TlsTrouble.inWords(cause)
        .orElse(cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage());
  }
}
