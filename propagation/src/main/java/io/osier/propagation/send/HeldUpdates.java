package io.osier.propagation.send;

/** An object's updates that wait for their round. */
final class HeldUpdates {
  final ObjectLog log;

  /** The number of the first one's first dot. */
  final long first;

  /** The first number of the transaction that the first one belongs to. */
  final long floor;

  /** All of them, joined. */
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

  /** Orders held objects: by age, then by number. */
  record Age(long firstNanos, long first) implements Comparable<Age> {
    @Override
    public int compareTo(Age other) {
      // As nanoTime wants to be compared: by the difference.
      int byAge = Long.signum(firstNanos - other.firstNanos);
      return byAge != 0 ? byAge : Long.compare(first, other.first);
    }
  }
}
