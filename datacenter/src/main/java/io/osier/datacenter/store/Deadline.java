package io.osier.datacenter.store;

import io.osier.core.memory.HeapSize;
import io.osier.crdt.ObjectId;

/**
 * An object's deadline; deadlines are ordered by time.
 *
 * @param millis milliseconds since 1970, at least 0
 */
public record Deadline(long millis, ObjectId object) implements Comparable<Deadline> {
  /** Returns what this takes in the heap in a sorted set, about, in bytes. */
  public long heapBytes() {
    return HeapSize.object(Long.BYTES + HeapSize.REFERENCE)
        + HeapSize.object(5 * HeapSize.REFERENCE + 1)
        + object.heapBytes();
  }

  @Override
  public int compareTo(Deadline other) {
    int byTime = Long.compare(millis, other.millis);
    return byTime != 0 ? byTime : object.compareTo(other.object);
  }
}
