package io.osier.core.time;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Present;
import java.time.Duration;

/**
 * Time limits as callers give them. Whatever is longer than a process lives counts as {@link
 * #FOREVER}, so limits can be added to a clock's time and converted.
 */
public final class TimeLimit {
  /** Longer than any process lives. */
  public static final Duration FOREVER = Duration.ofDays(36_500);

  private static final Duration NEVER = FOREVER.negated();

  private TimeLimit() {}

  private static Duration capped(Duration limit) {
    return limit.compareTo(FOREVER) > 0 ? FOREVER : limit.compareTo(NEVER) < 0 ? NEVER : limit;
  }

  /** In nanoseconds, of {@link #FOREVER} at most; below 0 for less than no time. */
  public static long nanos(Duration limit) {
    return capped(limit).toNanos();
  }

  /** In milliseconds, as {@link #nanos}. */
  public static long millis(Duration limit) {
    return capped(limit).toMillis();
  }

  /** In milliseconds, from 0 to the largest int; a part of a millisecond is none. */
  public static int intMillis(Duration limit) {
    return Math.clamp(millis(limit), 0, Integer.MAX_VALUE);
  }

  /**
   * A limit above 0, of {@link #FOREVER} at most.
   *
   * @param what it limits, for the error
   * @throws OsierException INVALID_ARGUMENT if it is null, or not above 0
   */
  public static Duration positive(String what, Duration limit) {
    if (Present.present(limit, what).isZero() || limit.isNegative()) {
      throw OsierException.of(ErrorCode.INVALID_ARGUMENT, what + " must be above 0, not " + limit);
    }
    return capped(limit);
  }

  /**
   * A limit of 0 or more, of {@link #FOREVER} at most.
   *
   * @param what it limits, for the error
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
