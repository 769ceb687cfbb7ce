package io.osier.datacenter.partition;

import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.history.VersionHistory;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.store.ObjectStore;

/**
 * A partition's objects.
 *
 * @param store their present states
 * @param past what is kept of former ones
 * @param forgetting drops those that only remember removals
 */
record PartitionObjects(ObjectStore store, VersionHistory past, RemovalCollector forgetting) {
  /** Gives an object a new state, which the past has heard of. */
  void put(ObjectId object, CrdtState state, Now now) {
    store.put(object, state);
    forgetting.changed(object, state, now.nanos());
  }
}
