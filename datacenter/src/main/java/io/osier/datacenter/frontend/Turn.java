package io.osier.datacenter.frontend;

import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Counts the requests that one connection gets done while the other connections of its loop wait.
 * Once they reach a limit, the rest of its requests waits for its next turn, and nothing more is
 * read from it. For the channel's loop.
 */
public final class Turn {
  /** The most requests of a turn. */
  public static final int REQUESTS_MAX = 1_024;

  /** The bytes of requests after which a turn is over. */
  public static final int BYTES_MAX = 64 << 10;

  private int requests;
  private int bytes;

  /** Begins a turn. */
  public void begin() {
    requests = 0;
    bytes = 0;
  }

  /**
   * Begins the next turn once the loop has served its other connections, also those whose requests
   * are still in their sockets.
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

  /** Counts a request of so many bytes. */
  public void took(int length) {
    requests++;
    bytes += length;
  }

  /** Returns how many requests the turn has taken. */
  public int requests() {
    return requests;
  }

  /** Returns whether the turn is over, so that others must have theirs. */
  public boolean isOver() {
    return requests >= REQUESTS_MAX || bytes >= BYTES_MAX;
  }
}
