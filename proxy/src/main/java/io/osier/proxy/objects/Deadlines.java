package io.osier.proxy.objects;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Present;
import io.osier.crdt.Operation;
import java.time.Duration;
import java.time.Instant;

/** Converts callers' durations and instants into operations that set deadlines. */
public final class Deadlines {
  private Deadlines() {}

  /**
   * Returns a deadline that counts from the update's execution; if the time is 0 or negative it has
   * passed at once.
   *
   * @throws OsierException INVALID_ARGUMENT if the deadline is too far away
   */
  public static Operation.Expire after(Duration timeToLive) {
    Present.present(timeToLive, "a time to live");
    try {
      // Rounded up: a positive time to live must not end at once.
      return checked(timeToLive.plusNanos(999_999).toMillis(), true);
    } catch (ArithmeticException e) {
      if (timeToLive.isNegative()) {
        return new Operation.Expire(0, true);
      }
      throw tooFar(timeToLive);
    }
  }

  /**
   * Returns a deadline at a point in time, which may have passed.
   *
   * @throws OsierException INVALID_ARGUMENT if the deadline is too far away
   */
  public static Operation.Expire at(Instant deadline) {
    Present.present(deadline, "a deadline");
    try {
      return checked(deadline.toEpochMilli(), false);
    } catch (ArithmeticException e) {
      if (deadline.isBefore(Instant.EPOCH)) {
        return new Operation.Expire(0, false);
      }
      throw tooFar(deadline);
    }
  }

  private static Operation.Expire checked(long millis, boolean fromNow) {
    if (millis > Operation.Expire.MILLIS_MAX) {
      throw tooFar(millis + " ms");
    }
    return new Operation.Expire(Math.max(0, millis), fromNow);
  }

  private static OsierException tooFar(Object what) {
    return OsierException.of(
        ErrorCode.INVALID_ARGUMENT, "a time to live ends before the year 10000, unlike " + what);
  }
}
