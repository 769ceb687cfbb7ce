package io.osier.crdt.tree;

import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.List;

/**
 * Encodes and decodes the entries of an {@link EntryTree} for packed leaves. Immutable and safe for
 * any thread.
 */
public interface LeafCodec<K extends Comparable<K>, V> {
  void writeKey(WireOutput out, K key);

  void writeCell(WireOutput out, V cell);

  K readKey(WireInput in);

  /**
   * Reads a cell.
   *
   * @param replicas number the replicas in packed leaves within the cell, by their indices
   */
  V readCell(WireInput in, K key, List<ReplicaId> replicas);

  /** Compares the next key with another one, and skips it. */
  default int compareKey(WireInput in, K other) {
    return readKey(in).compareTo(other);
  }

  /**
   * Skips a key and its cell.
   *
   * @param replicas as in {@link #readCell}
   */
  default void skip(WireInput in, List<ReplicaId> replicas) {
    V unused = readCell(in, readKey(in), replicas);
  }

  /** Returns about how many bytes a key and its cell take in the heap. */
  long cellHeapBytes(K key, V cell);

  /**
   * Returns an equal cell whose own leaves are packed; the same cell if there is nothing to pack.
   */
  default V packedCell(V cell, List<ReplicaId> replicas) {
    return cell;
  }
}
