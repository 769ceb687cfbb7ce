package io.osier.propagation;

import io.osier.core.HeapSize;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.ObjectId;

/**
 * One object's updates under way: one operation, a joined delta, or the full state.
 *
 * @param object which object
 * @param origin whose commit numbers {@code predecessor} and {@code last} are
 * @param predecessor the origin's commit number on this object right before those shipped: the
 *     receiver must have it (invariant I2); 0 for a full state, which needs nothing before it
 * @param needs what of other replicas the origin had seen of this object when it made the updates,
 *     as far as the receiver may not have it yet: per-object causal order; empty for a full state,
 *     which brings it along
 * @param last the origin's last commit number on this object that is shipped
 * @param updates how many updates of the origin are joined in it, at least 1; 0 if not known
 * @param ageMillis how long before the frame was sent the oldest of them was committed
 * @param content the delta or the state
 */
public record Shipment(
    ObjectId object,
    ReplicaId origin,
    long predecessor,
    VersionVector needs,
    long last,
    int updates,
    long ageMillis,
    Causal content) {
  /** What this takes in the heap, about, in bytes. */
  public long heapBytes() {
    return HeapSize.object(4 * HeapSize.REFERENCE + 3 * Long.BYTES + Integer.BYTES)
        + object.heapBytes()
        + needs.heapBytes()
        + content.heapBytes();
  }
}
