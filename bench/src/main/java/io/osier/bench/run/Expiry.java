package io.osier.bench.run;

import io.osier.bench.systems.Calls;
import io.osier.bench.systems.OsierCalls;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;

/** Many objects that expire within one second, while others are used. */
final class Expiry implements AutoCloseable {
  private static final int IN_FLIGHT = 256;
  private static final long PATIENCE_NANOS = 300_000_000_000L;
  private static final long LOOK_MILLIS = 100;

  /** Deadlines take longer to give than objects to make, by at most so much. */
  private static final double GIVING = 2.5;

  private final Calls calls;
  private final Calls.Expiring objects;
  private long keptBefore;

  Expiry(Calls calls) {
    this.calls = calls;
    this.objects = calls.expiring();
  }

  /**
   * Makes objects, gives them deadlines, and returns so many seconds before the first of these.
   *
   * @throws OsierException TIMEOUT if giving them took longer than there was time for
   */
  void begin(int count, double secondsBefore) throws InterruptedException {
    keptBefore = objects.kept();
    long start = System.nanoTime();
    OsierCalls.all(count, IN_FLIGHT, objects::put);
    long lead = (long) ((System.nanoTime() - start) / 1e6 * GIVING + secondsBefore * 1_000) + 2_000;
    long deadline = System.currentTimeMillis() + lead;
    OsierCalls.all(
        count, IN_FLIGHT, i -> objects.expireAt(i, deadline + i * 1_000L / Math.max(1, count)));
    long left = deadline - (long) (secondsBefore * 1_000) - System.currentTimeMillis();
    if (left < 0) {
      throw new OsierException(
          ErrorCode.TIMEOUT, "giving deadlines took " + -left + " ms longer than there was time");
    }
    Thread.sleep(left);
  }

  /**
   * Waits until all are removed, or until the store keeps nothing of them.
   *
   * @throws OsierException INTERNAL if one that has expired is shown; TIMEOUT if they stay
   */
  void await(boolean forgotten) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    long shown = objects.visible();
    if (shown > 0) {
      Thread.sleep(LOOK_MILLIS); // the store's clock may be behind
      shown = objects.visible();
    }
    if (shown > 0) {
      throw new OsierException(ErrorCode.INTERNAL, shown + " objects are shown that have expired");
    }
    while (objects.kept() - (forgotten ? 0 : objects.removed()) > keptBefore) {
      if (System.nanoTime() > deadline) {
        throw new OsierException(ErrorCode.TIMEOUT, "objects that have expired are still there");
      }
      Thread.sleep(LOOK_MILLIS);
    }
  }

  @Override
  public void close() {
    calls.close();
  }
}
