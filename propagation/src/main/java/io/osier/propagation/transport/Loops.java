package io.osier.propagation.transport;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.TimeUnit;

/** The thread that serves the connections; takes nothing after its end. Thread-safe. */
final class Loops implements AutoCloseable {
  private final EventLoopGroup group =
      new MultiThreadIoEventLoopGroup(
          1, new DefaultThreadFactory("osier-peers", true), NioIoHandler.newFactory());

  private volatile boolean closed;

  EventLoopGroup group() {
    return group;
  }

  boolean isClosed() {
    return closed;
  }

  /** Does something soon, unless this is closed. */
  synchronized void execute(Runnable task) {
    if (!closed) {
      group.execute(task);
    }
  }

  /** Does something later, unless this is closed by then. */
  synchronized void schedule(Runnable task, long millis) {
    if (!closed) {
      group.schedule(task, millis, TimeUnit.MILLISECONDS);
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2_000);
  }
}
