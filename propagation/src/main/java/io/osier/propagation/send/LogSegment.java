package io.osier.propagation.send;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.memory.HeapSize;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.wire.Shipment;

/**
 * Updates of one object, joined. Immutable.
 *
 * @param predecessor this datacenter's last commit number on the object before these updates
 * @param needs the updates of other replicas on the object that these updates build on
 * @param last the commit number of the last update
 * @param updates the number of updates
 * @param firstNanos when the oldest was committed
 * @param tick the segment's place among all shipped segments; 0 until it is shipped
 */
record LogSegment(
    long predecessor,
    VersionVector needs,
    long last,
    int updates,
    long firstNanos,
    long tick,
    CrdtState delta) {

  private static final long HEAP_BYTES =
      HeapSize.object(4 * Long.BYTES + Integer.BYTES + 2 * HeapSize.REFERENCE);

  /** Returns about how many bytes the segment takes in the heap. */
  long heapBytes() {
    return HEAP_BYTES + needs.heapBytes() + delta.heapBytes();
  }

  /** Returns how long ago the oldest update was committed. */
  private long ageMillis(long nowNanos) {
    return Math.max(0, (nowNanos - firstNanos) / 1_000_000);
  }

  /** Returns the updates as a shipment of their own. */
  Shipment shipment(ObjectId object, ReplicaId self, long nowNanos) {
    return new Shipment(
        object, self, predecessor, needs, last, updates, ageMillis(nowNanos), delta);
  }

  /** Returns a shipment of a state that contains the updates and needs nothing before it. */
  Shipment whole(ObjectId object, ReplicaId self, CrdtState state, long nowNanos) {
    return new Shipment(
        object, self, 0, VersionVector.EMPTY, last, updates, ageMillis(nowNanos), state);
  }

  LogSegment joined(LogSegment later) {
    return new LogSegment(
        predecessor,
        needs.join(later.needs),
        later.last,
        updates + later.updates,
        Math.min(firstNanos, later.firstNanos),
        later.tick,
        delta.join(later.delta));
  }
}
