package io.osier.crdt.types;

import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.tree.LeafCodec;
import java.util.List;

/**
 * The codec of a type's cells.
 *
 * @param type any store of the type; what lives longer than it should have the empty one
 */
record EntryCodec<K extends Comparable<K>, V>(EntryStore<?, K, V> type) implements LeafCodec<K, V> {
  @Override
  public void writeKey(WireOutput out, K key) {
    type.writeKey(out, key);
  }

  @Override
  public void writeCell(WireOutput out, V cell) {
    type.writeCell(out, cell);
  }

  @Override
  public K readKey(WireInput in) {
    return type.readKey(in);
  }

  @Override
  public V readCell(WireInput in, K key, List<ReplicaId> replicas) {
    return type.readCell(in, key, replicas);
  }

  @Override
  public int compareKey(WireInput in, K other) {
    return type.compareKey(in, other);
  }

  @Override
  public void skip(WireInput in, List<ReplicaId> replicas) {
    type.skip(in);
  }

  @Override
  public long heapBytes(K key, V cell) {
    return type.cellHeapBytes(key, cell);
  }

  @Override
  public V packed(V cell, List<ReplicaId> replicas) {
    return type.packedCell(cell, replicas);
  }
}
