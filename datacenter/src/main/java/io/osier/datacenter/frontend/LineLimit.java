package io.osier.datacenter.frontend;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits how many lines a log gets in one second, and counts those that are left out. Thread-safe;
 * no lock is taken.
 */
final class LineLimit {
  private static final long SECOND_NANOS = 1_000_000_000;

  private final int linesMax;
  private final AtomicLong secondBeganNanos = new AtomicLong(Long.MIN_VALUE);
  private final AtomicInteger lines = new AtomicInteger();
  private final AtomicInteger leftOut = new AtomicInteger();
  private final AtomicLong leftOutEver = new AtomicLong();

  /**
   * Makes a limit.
   *
   * @param linesMax the most lines in one second
   */
  LineLimit(int linesMax) {
    this.linesMax = linesMax;
  }

  /**
   * Returns whether a line may be written now; otherwise counts it as left out.
   *
   * @param nowNanos the time, by the monotonic clock
   */
  boolean tryPass(long nowNanos) {
    long began = secondBeganNanos.get();
    boolean isOver = began == Long.MIN_VALUE || nowNanos - began >= SECOND_NANOS;
    if (isOver && secondBeganNanos.compareAndSet(began, nowNanos)) {
      lines.set(0);
    }
    boolean passes = lines.incrementAndGet() <= linesMax;
    if (!passes) {
      leftOut.incrementAndGet();
      leftOutEver.incrementAndGet();
    }
    return passes;
  }

  /** Returns how many lines were left out since the last call. */
  int takeLeftOut() {
    return leftOut.getAndSet(0);
  }

  /** Returns how many lines were left out since the start. */
  long leftOutEver() {
    return leftOutEver.get();
  }
}
