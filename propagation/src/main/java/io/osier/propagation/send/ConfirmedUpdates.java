package io.osier.propagation.send;

import io.osier.propagation.host.Timeliness;

/**
 * Counts the updates of this life that one peer has confirmed since it became a peer, and how many
 * of them were late. An update that the peer confirms twice, because it lost it in between, counts
 * once. Pure; not thread-safe.
 */
final class ConfirmedUpdates {
  private final CommitTimes times;
  private long number;
  private long opBytes;
  private long updates;
  private long late;

  /**
   * @param number the last commit number before the datacenter became a peer
   */
  ConfirmedUpdates(CommitTimes times, long number) {
    this.times = times;
    this.number = number;
    this.opBytes = times.bytesUpTo(number);
  }

  /**
   * Notes that the peer has all own updates up to the number {@code has}.
   *
   * @param lateNanos updates that were committed before this moment are late
   * @return how many bytes the newly confirmed updates take as single operations
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
   * Returns the counts as of now.
   *
   * @param boundNanos updates that were committed before this moment are older than the staleness
   *     bound
   * @param lateNanos an earlier moment: a peer in time would long have confirmed updates from
   *     before it
   */
  Timeliness timeliness(long boundNanos, long lateNanos) {
    boolean isLate = overdue(times.committedBy(lateNanos)) > 0;
    return new Timeliness(updates, late, isLate ? overdue(times.committedBy(boundNanos)) : 0);
  }
}
