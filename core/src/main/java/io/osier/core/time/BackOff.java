package io.osier.core.time;

import java.util.random.RandomGenerator;

/**
 * Computes how long to wait before a failed attempt is repeated: a time that doubles with each
 * failure up to a longest one, less a random part of up to a half, so that clients that failed
 * together do not come back together. Pure; not thread-safe.
 */
public final class BackOff {
  private final long millisMin;
  private final long millisMax;
  private long millis;

  /**
   * Begins with the shortest time.
   *
   * @param millisMin the first time in milliseconds, at least 2
   * @param millisMax the longest, not below the first
   */
  public BackOff(long millisMin, long millisMax) {
    if (millisMin < 2 || millisMax < millisMin) {
      throw new IllegalArgumentException(
          "a pause of " + millisMin + " to " + millisMax + " ms is out of range");
    }
    this.millisMin = millisMin;
    this.millisMax = millisMax;
    this.millis = millisMin;
  }

  /**
   * Returns the pause before the next attempt, in milliseconds: between the half and the whole
   * time.
   */
  public long nextMillis(RandomGenerator random) {
    long pause = random.nextLong(millis / 2, millis + 1);
    millis = Math.min(2 * millis, millisMax);
    return pause;
  }

  /** Notes a success: the next failure counts as the first. */
  public void reset() {
    millis = millisMin;
  }

  /** Notes that the next attempt has little hope: it waits the longest time. */
  public void slowDown() {
    millis = millisMax;
  }
}
