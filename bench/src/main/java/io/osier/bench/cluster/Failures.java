package io.osier.bench.cluster;

import io.osier.core.OsierException;
import io.osier.proxy.OutcomeUnknownException;
import java.util.concurrent.atomic.LongAdder;

/**
 * The updates of a load that were not acknowledged: those that have failed for certain, and those
 * that may have been done nevertheless. Thread-safe.
 */
final class Failures {
  private final LongAdder count = new LongAdder();

  /**
   * Counts one.
   *
   * @param error with which the client's future has ended
   * @return whether the update may have been done nevertheless
   */
  boolean add(Throwable error) {
    count.increment();
    Throwable cause = error.getCause() == null ? error : error.getCause();
    return cause instanceof OutcomeUnknownException || !(cause instanceof OsierException);
  }

  /** How many there are so far. */
  long count() {
    return count.sum();
  }
}
