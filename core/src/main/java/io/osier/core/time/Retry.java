package io.osier.core.time;

import java.util.random.RandomGenerator;

/**
 * Something that is tried again until it works, by somebody who looks often: when that may be, what
 * of its failures is worth a line, and how many there were. Pure, with time passed in; one thread
 * tries, any may ask for the {@link #failures}.
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
   * It did not work.
   *
   * @param why in words
   * @return whether that is news: it is not what was told last
   */
  public boolean failed(String why, long nowMillis) {
    boolean isNews = !failing || !why.equals(said);
    failing = true;
    said = why;
    failedMillis = nowMillis;
    pauseMillis = backOff.nextMillis(random);
    long before = failures; // written by this thread alone
    failures = before + 1;
    return isNews;
  }

  /**
   * It has worked.
   *
   * @return whether it had failed before
   */
  public boolean worked() {
    boolean had = failing;
    failing = false;
    backOff.reset();
    return had;
  }

  /** How often it has not worked, in all. For any thread. */
  public long failures() {
    return failures;
  }
}
