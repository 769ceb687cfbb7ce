package io.osier.datacenter.partition;

import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.history.VersionHistory;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.wire.Shipment;
import org.jspecify.annotations.Nullable;

/** A partition's objects. Not thread-safe. */
final class PartitionObjects {
  private final ObjectStore store;
  private final VersionHistory past;
  private final RemovalCollector forgetting;

  /** What {@link #get} gave last: the streams join their updates to it. */
  private @Nullable ObjectId gotObject;

  private @Nullable CrdtState got;

  /**
   * @param past what is kept of former ones
   * @param forgetting drops those that only remember removals
   */
  PartitionObjects(ObjectStore store, VersionHistory past, RemovalCollector forgetting) {
    this.store = store;
    this.past = past;
    this.forgetting = forgetting;
  }

  ObjectStore store() {
    return store;
  }

  VersionHistory past() {
    return past;
  }

  RemovalCollector forgetting() {
    return forgetting;
  }

  /** Gives an object a new state, which the past has heard of. */
  void put(ObjectId object, CrdtState state, Now now) {
    store.put(object, state);
    forgetting.changed(object, state, now.nanos());
  }

  /** An object that an update of another datacenter is to be joined to; null if there is none. */
  @Nullable CrdtState get(ObjectId object) {
    gotObject = object;
    got = store.get(object);
    return got;
  }

  /** Puts what another datacenter's update has made of its object. */
  void join(Shipment update, CrdtState joined, Now now) {
    ObjectId object = update.object();
    past.admitting(object, joinedTo(object), update.content(), joined, now.nanos());
    put(object, joined, now);
  }

  /** What an update was joined to: what the store gives now is made anew if it is packed. */
  private CrdtState joinedTo(ObjectId object) {
    CrdtState state = object.equals(gotObject) ? got : store.get(object);
    gotObject = null;
    got = null;
    return state == null ? CrdtState.bottom(object.type()) : state;
  }
}
