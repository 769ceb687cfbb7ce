package io.osier.datacenter.partition;

import io.osier.crdt.Causal;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.store.ObjectStore;

/**
 * A partition's objects.
 *
 * @param store their present states
 * @param past what is kept of former ones
 * @param forgetting drops those that only remember removals
 */
record Objects(ObjectStore store, Past past, Forgetting forgetting) {
  /** Gives an object a new state, which the past has heard of. */
  void put(ObjectId object, Causal state, Now now) {
    store.put(object, state);
    forgetting.changed(object, state, now.nanos());
  }
}
