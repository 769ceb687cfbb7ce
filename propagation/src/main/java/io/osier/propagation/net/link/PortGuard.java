package io.osier.propagation.net.link;

import io.netty.channel.Channel;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts a port's connections, and refuses what is over its limit. Thread-safe. */
public final class PortGuard {
  private static final Logger LOG = LoggerFactory.getLogger(PortGuard.class);

  /** Refusals and closings are logged at most so often: who causes them may go on doing so. */
  private static final long LOGGED_NANOS = 10_000_000_000L;

  private final String port;
  private final PortLimits limits;
  private final AtomicInteger open = new AtomicInteger();
  private final AtomicLong loggedAtNanos = new AtomicLong(System.nanoTime() - LOGGED_NANOS);
  private final AtomicInteger silent = new AtomicInteger();

  /**
   * For one port.
   *
   * @param port its setting, for the log
   */
  public PortGuard(String port, PortLimits limits) {
    this.port = port;
    this.limits = limits;
  }

  /** Counts a new connection until it is closed; false if it is one too many. */
  public boolean admit(Channel channel) {
    int now = open.incrementAndGet();
    channel.closeFuture().addListener(f -> open.decrementAndGet());
    if (now > limits.connectionsMax()) {
      log(channel, tooMany());
      return false;
    }
    return true;
  }

  /** Why a connection is not admitted. */
  public String tooMany() {
    return port + " has " + limits.connectionsMax() + " connections, which is the limit";
  }

  /** Connections that are open. */
  public int open() {
    return open.get();
  }

  public PortLimits limits() {
    return limits;
  }

  /** Says why a connection is closed, unless so much is said already. */
  public void log(Channel channel, String why) {
    long last = loggedAtNanos.get();
    long now = System.nanoTime();
    if (now - last < LOGGED_NANOS || !loggedAtNanos.compareAndSet(last, now)) {
      silent.incrementAndGet();
      return;
    }
    int more = silent.getAndSet(0);
    LOG.warn(
        "connection from {} closed: {}{}",
        channel.remoteAddress(),
        why,
        more == 0 ? "" : " (and " + more + " others since the last such line)");
  }
}
