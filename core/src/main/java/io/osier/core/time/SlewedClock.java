package io.osier.core.time;

/**
 * Physical time that never jumps: it advances with the monotonic clock and approaches the wall
 * clock by a bounded share of the elapsed time. Otherwise a wall clock that is set forward by a
 * year would make one datacenter win every last-writer-wins conflict for a year, and one that is
 * set back would stop time.
 *
 * <p>Pure: both readings are passed in. Not thread-safe.
 */
public final class SlewedClock {
  /** The share of elapsed time by which the clock may be corrected: 5 %, so an hour takes 20. */
  private static final double SLEW_MAX = 0.05;

  /** The least difference to the wall clock that is reported as a jump: one second. */
  public static final long JUMP_MILLIS_MIN = 1_000;

  private double millis;
  private long lastMonotonicNanos;
  private long lastOffsetMillis;
  private boolean jumped;

  /**
   * Starts at the wall clock's reading.
   *
   * @param wallMillis milliseconds since 1970, with their fraction: without it, this clock would be
   *     behind by up to one
   */
  public SlewedClock(double wallMillis, long monotonicNanos) {
    this.millis = wallMillis;
    this.lastMonotonicNanos = monotonicNanos;
  }

  /**
   * Returns the time now.
   *
   * @param wallMillis the wall clock, milliseconds since 1970, with their fraction
   * @param monotonicNanos the monotonic clock; a reading before the last one counts as no progress
   * @return milliseconds since 1970, with their fraction, never less than before
   */
  public double read(double wallMillis, long monotonicNanos) {
    double elapsed = Math.max(0, monotonicNanos - lastMonotonicNanos) / 1e6;
    lastMonotonicNanos = Math.max(lastMonotonicNanos, monotonicNanos);
    double offset = wallMillis - (millis + elapsed);
    double slew = Math.clamp(offset, -elapsed * SLEW_MAX, elapsed * SLEW_MAX);
    millis += elapsed + slew;
    long offsetMillis = Math.round(offset);
    jumped = Math.abs(offsetMillis - lastOffsetMillis) >= JUMP_MILLIS_MIN;
    lastOffsetMillis = offsetMillis;
    return millis;
  }

  /** Whether the wall clock moved by a second or more against this clock at the last reading. */
  public boolean jumped() {
    return jumped;
  }

  /** Returns the wall clock minus this clock at the last reading, in milliseconds. */
  public long offsetMillis() {
    return lastOffsetMillis;
  }
}
