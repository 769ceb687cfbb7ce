package io.osier.core.time;

import java.util.random.RandomGenerator;

/**
 * How long to wait before something that failed is tried again: a time that doubles with each
 * failure up to a longest one, less up to a half of it by chance, so that those who failed together
 * do not come back together. Pure; not thread-safe.
 */
public final class BackOff {
  private final long millisMin;
  private final long millisMax;
  private long millis;

  /**
   * Begins with the shortest time.
   *
   * @param millisMin the first time, at least 2
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

  /** The pause before the next attempt, in milliseconds: between the half and the whole time. */
  public long nextMillis(RandomGenerator random) {
    long pause = random.nextLong(millis / 2, millis + 1);
    millis = Math.min(2 * millis, millisMax);
    return pause;
  }

  /** It has worked: the next failure is the first again. */
  public void reset() {
    millis = millisMin;
  }

  /** The next attempt has little hope: it waits the longest time. */
  public void slowDown() {
    millis = millisMax;
  }
}
