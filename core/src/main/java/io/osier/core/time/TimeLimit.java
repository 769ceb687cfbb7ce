package io.osier.core.time;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Present;
import java.time.Duration;

/**
 * Converts time limits of callers. A limit that is longer than a process lives counts as {@link
 * #FOREVER}, so that limits can be added to a clock's time and converted.
 */
public final class TimeLimit {
  /** Longer than any process lives. */
  public static final Duration FOREVER = Duration.ofDays(36_500);

  private static final Duration NEVER = FOREVER.negated();

  private TimeLimit() {}

  private static Duration capped(Duration limit) {
    return limit.compareTo(FOREVER) > 0 ? FOREVER : limit.compareTo(NEVER) < 0 ? NEVER : limit;
  }

  /** Returns a limit in nanoseconds, at most {@link #FOREVER}; below 0 if it is negative. */
  public static long nanos(Duration limit) {
    return capped(limit).toNanos();
  }

  /** Returns a limit in milliseconds, as {@link #nanos}. */
  public static long millis(Duration limit) {
    return capped(limit).toMillis();
  }

  /** Returns a limit in milliseconds, from 0 to the largest int, rounded down. */
  public static int intMillis(Duration limit) {
    return Math.clamp(millis(limit), 0, Integer.MAX_VALUE);
  }

  /**
   * Returns a limit above 0, at most {@link #FOREVER}.
   *
   * @param what the name of the limit, for the error
   * @throws OsierException INVALID_ARGUMENT if it is null, or not above 0
   */
  public static Duration positive(String what, Duration limit) {
    if (Present.present(limit, what).isZero() || limit.isNegative()) {
      throw OsierException.of(ErrorCode.INVALID_ARGUMENT, what + " must be above 0, not " + limit);
    }
    return capped(limit);
  }

  /**
   * Returns a limit of 0 or more, at most {@link #FOREVER}.
   *
   * @param what the name of the limit, for the error
   * @throws OsierException INVALID_ARGUMENT if it is null, or below 0
   */
  public static Duration notNegative(String what, Duration limit) {
    if (Present.present(limit, what).isNegative()) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT, what + " must be at least 0, not " + limit);
    }
    return capped(limit);
  }
}
