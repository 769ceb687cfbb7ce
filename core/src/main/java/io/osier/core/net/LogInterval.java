package io.osier.core.net;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Lets a line into the log at most once in an interval, since its cause may repeat. Thread-safe.
 */
public final class LogInterval {
  private final long nanos;
  private final AtomicLong lastNanos;

  /**
   * Creates an interval whose first line passes.
   *
   * @param interval between two lines
   */
  public LogInterval(Duration interval) {
    this.nanos = interval.toNanos();
    this.lastNanos = new AtomicLong(System.nanoTime() - nanos);
  }

  /** Whether a line may be logged now; then no other may for the interval. */
  public boolean tryPass() {
    return tryPass(System.nanoTime());
  }

  boolean tryPass(long nowNanos) {
    long last = lastNanos.get();
    return nowNanos - last >= nanos && lastNanos.compareAndSet(last, nowNanos);
  }
}
