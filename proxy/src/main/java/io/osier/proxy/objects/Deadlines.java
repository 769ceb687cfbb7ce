package io.osier.proxy.objects;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Present;
import io.osier.crdt.Operation;
import java.time.Duration;
import java.time.Instant;

/** Deadlines as callers give them. */
public final class Deadlines {
  private Deadlines() {}

  /**
   * A deadline from now on; one of no time or less is over at once.
   *
   * @throws OsierException INVALID_ARGUMENT if it is too far away
   */
  public static Operation.Expire after(Duration timeToLive) {
    Present.present(timeToLive, "a time to live");
    try {
      // Rounded up: what is to live at all is not over at once.
      return checked(timeToLive.plusNanos(999_999).toMillis(), true);
    } catch (ArithmeticException e) {
      if (timeToLive.isNegative()) {
        return new Operation.Expire(0, true);
      }
      throw tooFar(timeToLive);
    }
  }

  /**
   * A deadline; one that has passed is over at once.
   *
   * @throws OsierException INVALID_ARGUMENT if it is too far away
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
