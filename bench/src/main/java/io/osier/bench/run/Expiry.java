package io.osier.bench.run;

import io.osier.bench.systems.Calls;
import io.osier.bench.systems.OsierCalls;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;

/** Gives many objects deadlines within one second, and checks that they expire in time. */
final class Expiry implements AutoCloseable {
  private static final int IN_FLIGHT = 256;
  private static final long PATIENCE_NANOS = 300_000_000_000L;
  private static final long LOOK_NANOS = 100_000_000;

  /** Giving an object its deadline takes at most this many times as long as creating it. */
  private static final double GIVING = 2.5;

  private final Calls calls;
  private final Time time;
  private final Calls.Expiring objects;
  private long keptBefore;

  Expiry(Calls calls, Time time) {
    this.calls = calls;
    this.time = time;
    this.objects = calls.expiring();
  }

  /**
   * Creates objects, gives them deadlines, and returns {@code secondsBefore} seconds before the
   * first deadline.
   *
   * @throws OsierException TIMEOUT if giving the deadlines took longer than there was time for;
   *     INTERNAL if an object is not shown before its deadline
   */
  void begin(int count, double secondsBefore) {
    keptBefore = objects.kept();
    long start = time.nanos();
    OsierCalls.all(count, IN_FLIGHT, objects::put);
    long lead = (long) ((time.nanos() - start) / 1e6 * GIVING + secondsBefore * 1_000) + 2_000;
    long deadline = time.millis() + lead;
    OsierCalls.all(
        count, IN_FLIGHT, i -> objects.expireAt(i, deadline + i * 1_000L / Math.max(1, count)));
    long shown = objects.visible();
    long left = deadline - (long) (secondsBefore * 1_000) - time.millis();
    if (left < 0) {
      throw new OsierException(
          ErrorCode.TIMEOUT, "giving deadlines took " + -left + " ms longer than there was time");
    }
    if (shown != count) {
      throw new OsierException(
          ErrorCode.INTERNAL,
          "of " + count + " objects " + shown + " are shown before the first deadline");
    }
    time.pass(left * 1_000_000);
  }

  /**
   * Waits until all objects are removed, or, if {@code forgotten}, until the store keeps nothing of
   * them.
   *
   * @throws OsierException INTERNAL if an expired object is shown; TIMEOUT if expired objects stay
   *     for five minutes
   */
  void await(boolean forgotten) {
    long deadline = time.nanos() + PATIENCE_NANOS;
    long shown = objects.visible();
    if (shown > 0) {
      time.pass(LOOK_NANOS); // the store's clock may be behind
      shown = objects.visible();
    }
    if (shown > 0) {
      throw new OsierException(ErrorCode.INTERNAL, shown + " objects are shown that have expired");
    }
    while (objects.kept() - (forgotten ? 0 : objects.removed()) > keptBefore) {
      if (time.nanos() > deadline) {
        throw new OsierException(ErrorCode.TIMEOUT, "objects that have expired are still there");
      }
      time.pass(LOOK_NANOS);
    }
  }

  @Override
  public void close() {
    calls.close();
  }
}
