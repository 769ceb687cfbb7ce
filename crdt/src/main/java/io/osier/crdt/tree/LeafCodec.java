package io.osier.crdt.tree;

import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.List;

/**
 * How the entries of a {@link EntryTree} become bytes and come back, for the leaves that are
 * packed. Immutable and safe for any thread.
 */
public interface LeafCodec<K extends Comparable<K>, V> {
  void writeKey(WireOutput out, K key);

  void writeCell(WireOutput out, V cell);

  K readKey(WireInput in);

  /**
   * Reads a cell.
   *
   * @param replicas those by whose places replicas are numbered in leaves that the cell has itself
   */
  V readCell(WireInput in, K key, List<ReplicaId> replicas);

  /** How the key that comes compares with another one; goes past it. */
  default int compareKey(WireInput in, K other) {
    return readKey(in).compareTo(other);
  }

  /**
   * Goes past a key and its cell.
   *
   * @param replicas as in {@link #readCell}
   */
  default void skip(WireInput in, List<ReplicaId> replicas) {
    V unused = readCell(in, readKey(in), replicas);
  }

  /** What a key and its cell take in the heap, about, in bytes. */
  long cellHeapBytes(K key, V cell);

  /** An equal cell whose own leaves are packed; the same one if it has none that were not. */
  default V packedCell(V cell, List<ReplicaId> replicas) {
    return cell;
  }
}
