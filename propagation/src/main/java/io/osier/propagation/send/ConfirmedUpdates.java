package io.osier.propagation.send;

import io.osier.propagation.host.Timeliness;

/**
 * What one peer has confirmed of the updates of this life that were committed since it is one, and
 * how much of that came late. What it confirms twice, since it has lost it, counts once. Pure; not
 * thread-safe.
 */
final class ConfirmedUpdates {
  private final CommitTimes times;
  private long number;
  private long opBytes;
  private long updates;
  private long late;

  /**
   * @param number the last commit number before the peer was one
   */
  ConfirmedUpdates(CommitTimes times, long number) {
    this.times = times;
    this.number = number;
    this.opBytes = times.bytesUpTo(number);
  }

  /**
   * The peer has all own updates up to a number.
   *
   * @param lateNanos what was committed before that is late
   * @return what is new of it takes so many bytes as single operations
   */
  long confirmed(long has, long lateNanos) {
    if (has <= number) {
      return 0;
    }
    late += overdue(Math.min(has, times.committedBy(lateNanos)));
    updates += has - number;
    number = has;
    long before = opBytes;
    opBytes = Math.max(before, times.bytesUpTo(has));
    return opBytes - before;
  }

  private long overdue(long committed) {
    return Math.max(0, committed - number);
  }

  /**
   * What it tells now.
   *
   * @param boundNanos what was committed before that is older than the staleness bound
   * @param lateNanos and before that, so old that the peer would have confirmed it long ago
   */
  Timeliness timeliness(long boundNanos, long lateNanos) {
    boolean isLate = overdue(times.committedBy(lateNanos)) > 0;
    return new Timeliness(updates, late, isLate ? overdue(times.committedBy(boundNanos)) : 0);
  }
}
