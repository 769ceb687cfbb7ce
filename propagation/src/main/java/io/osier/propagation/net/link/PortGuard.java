package io.osier.propagation.net.link;

import io.netty.channel.Channel;
import io.osier.core.net.LogInterval;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts a port's connections, and refuses those over its limit. Thread-safe. */
public final class PortGuard {
  private static final Logger LOG = LoggerFactory.getLogger(PortGuard.class);

  /** The shortest time between two lines in the log about refusals and closings. */
  private static final Duration LOGGED = Duration.ofSeconds(10);

  private final String port;
  private final PortLimits limits;
  private final AtomicInteger open = new AtomicInteger();
  private final LogInterval logged = new LogInterval(LOGGED);
  private final AtomicInteger silent = new AtomicInteger();

  /**
   * @param port the name of its setting, for the log
   */
  public PortGuard(String port, PortLimits limits) {
    this.port = port;
    this.limits = limits;
  }

  /** Counts a new connection until it is closed; returns false if it is one too many. */
  public boolean admit(Channel channel) {
    int now = open.incrementAndGet();
    channel.closeFuture().addListener(f -> open.decrementAndGet());
    if (now > limits.connectionsMax()) {
      log(channel, tooMany());
      return false;
    }
    return true;
  }

  /** Returns why a connection is not admitted. */
  public String tooMany() {
    return port + " has " + limits.connectionsMax() + " connections, which is the limit";
  }

  public int open() {
    return open.get();
  }

  public PortLimits limits() {
    return limits;
  }

  /** Logs why a connection is closed, unless a line was logged just now. */
  public void log(Channel channel, String why) {
    if (!logged.tryPass()) {
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
