package io.osier.propagation.send;

/** The updates of one object that wait for their round. Not thread-safe. */
final class HeldUpdates {
  final ObjectLog log;

  /** The first dot's number of the first update. */
  final long first;

  /** The first number of the transaction to which the first update belongs. */
  final long floor;

  /** All waiting updates, joined. */
  LogSegment segment;

  HeldUpdates(ObjectLog log, long first, long floor, LogSegment segment) {
    this.log = log;
    this.first = first;
    this.floor = floor;
    this.segment = segment;
  }

  Age age() {
    return new Age(segment.firstNanos(), first);
  }

  /** Orders held objects by the commit time of their first update, then by its number. */
  record Age(long firstNanos, long first) implements Comparable<Age> {
    @Override
    public int compareTo(Age other) {
      // Values of nanoTime must be compared by their difference.
      int byAge = Long.signum(firstNanos - other.firstNanos);
      return byAge != 0 ? byAge : Long.compare(first, other.first);
    }
  }
}
