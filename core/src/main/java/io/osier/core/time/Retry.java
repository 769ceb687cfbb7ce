package io.osier.core.time;

import java.util.random.RandomGenerator;

/**
 * Paces an attempt that is repeated until it works, by a caller that checks often: says when it is
 * due and which failures are worth a line in the log, and counts them. Pure, with time passed in.
 * One thread makes the attempts; {@link #failures} is for any thread.
 */
public final class Retry {
  private final BackOff backOff;
  private final RandomGenerator random;
  private boolean failing;
  private String said = "";
  private long failedMillis;
  private long pauseMillis;
  private volatile long failures;

  /**
   * @param millisMin the pause after the first failure, less up to a half of it; at least 2
   * @param millisMax the longest pause, to which it doubles
   * @param random draws pauses
   */
  public Retry(long millisMin, long millisMax, RandomGenerator random) {
    this.backOff = new BackOff(millisMin, millisMax);
    this.random = random;
  }

  /**
   * Whether to try now.
   *
   * @param nowMillis by a clock that may be set back: then it is due
   */
  public boolean isDue(long nowMillis) {
    return !failing || nowMillis < failedMillis || nowMillis - failedMillis >= pauseMillis;
  }

  /**
   * Notes a failure.
   *
   * @param why in words
   * @return whether that is news: it differs from the last reason
   */
  public boolean failed(String why, long nowMillis) {
    boolean isNews = !failing || !why.equals(said);
    failing = true;
    said = why;
    failedMillis = nowMillis;
    pauseMillis = backOff.nextMillis(random);
    long before = failures; // only this thread writes it
    failures = before + 1;
    return isNews;
  }

  /**
   * Notes a success.
   *
   * @return whether it had failed before
   */
  public boolean worked() {
    boolean had = failing;
    failing = false;
    backOff.reset();
    return had;
  }

  /** Returns how many attempts have failed in all. For any thread. */
  public long failures() {
    return failures;
  }
}
