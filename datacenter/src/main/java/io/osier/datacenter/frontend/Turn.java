package io.osier.datacenter.frontend;

import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.TimeUnit;

/**
 * How much one connection has asked for while the others of its loop wait. Once that is as much as
 * one may, the rest of what it has sent waits for its next turn, and nothing more is read of it.
 * Used by the channel's loop.
 */
public final class Turn {
  /** So many requests at most. */
  public static final int REQUESTS_MAX = 1_024;

  /** With so many bytes, and what the last of them has beyond that. */
  public static final int BYTES_MAX = 64 << 10;

  private int requests;
  private int bytes;

  public void begin() {
    requests = 0;
    bytes = 0;
  }

  /**
   * The next turn begins when the others of the loop had theirs, those whose requests are in their
   * sockets too.
   */
  void later(EventExecutor loop, Runnable begun) {
    loop.schedule(
        () -> {
          begin();
          begun.run();
        },
        0, // a task without a time would come before the loop looks at its sockets
        TimeUnit.NANOSECONDS);
  }

  /** A request of so many bytes was taken. */
  public void took(int length) {
    requests++;
    bytes += length;
  }

  /** How many requests were taken. */
  public int requests() {
    return requests;
  }

  /** Whether it must leave the loop to others. */
  public boolean isOver() {
    return requests >= REQUESTS_MAX || bytes >= BYTES_MAX;
  }
}
