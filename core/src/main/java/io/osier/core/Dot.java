package io.osier.core;

import io.osier.core.memory.HeapSize;

/**
 * The identity of one committed update or transaction: the replica that committed it, and the
 * commit number that its sequencer gave it. Unique for ever.
 *
 * @param number the commit number, 1 or larger
 */
public record Dot(ReplicaId replica, long number) implements Comparable<Dot> {
  /** About how many bytes a dot takes in the heap; its replica's name is shared. */
  public static final long HEAP_BYTES = HeapSize.object(HeapSize.REFERENCE + Long.BYTES);

  public Dot {
    if (number < 1) {
      throw new IllegalArgumentException("commit number must be 1 or larger, not " + number);
    }
  }

  @Override
  public int compareTo(Dot other) {
    int byReplica = replica.compareTo(other.replica);
    return byReplica != 0 ? byReplica : Long.compare(number, other.number);
  }

  @Override
  public String toString() {
    return replica + ":" + number;
  }
}
