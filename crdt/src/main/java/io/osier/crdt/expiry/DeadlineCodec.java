package io.osier.crdt.expiry;

import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.tree.LeafCodec;
import io.osier.crdt.types.EntryStore;
import java.util.List;

/**
 * Encodes deadlines of parts in packed leaves.
 *
 * @param keys the content's type, without content
 */
record DeadlineCodec<K extends Comparable<K>>(EntryStore<?, K, ?> keys)
    implements LeafCodec<K, DeadlineRegister> {
  @Override
  public void writeKey(WireOutput out, K key) {
    keys.writeKey(out, key);
  }

  @Override
  public void writeCell(WireOutput out, DeadlineRegister deadlines) {
    deadlines.write(out);
  }

  @Override
  public K readKey(WireInput in) {
    return keys.readKey(in);
  }

  @Override
  public DeadlineRegister readCell(WireInput in, K key, List<ReplicaId> replicas) {
    return DeadlineRegister.read(in);
  }

  @Override
  public int compareKey(WireInput in, K other) {
    return keys.compareKey(in, other);
  }

  @Override
  public long cellHeapBytes(K key, DeadlineRegister deadlines) {
    return keys.keyHeapBytes(key) + deadlines.heapBytes();
  }
}
