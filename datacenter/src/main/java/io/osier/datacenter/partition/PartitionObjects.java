package io.osier.datacenter.partition;

import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.history.VersionHistory;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.wire.Shipment;
import org.jspecify.annotations.Nullable;

/** The objects of a partition; changes of them go through here. Not thread-safe. */
final class PartitionObjects {
  private final ObjectStore store;
  private final VersionHistory past;
  private final RemovalCollector forgetting;

  /** The object that {@link #get} returned last: the propagation joins its updates to it. */
  private @Nullable ObjectId gotObject;

  private @Nullable CrdtState got;

  /**
   * @param past keeps former states of objects
   * @param forgetting drops objects that only remember removals
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

  /** Gives an object a new state; the history knows of it already. */
  void put(ObjectId object, CrdtState state, Now now) {
    store.put(object, state);
    forgetting.changed(object, state, now.nanos());
  }

  /**
   * Returns an object to which another datacenter's update will be joined; null if there is none.
   */
  @Nullable CrdtState get(ObjectId object) {
    gotObject = object;
    got = store.get(object);
    return got;
  }

  /** Stores an object to which another datacenter's update was joined. */
  void join(Shipment update, CrdtState joined, Now now) {
    ObjectId object = update.object();
    past.admitting(object, joinedTo(object), update.content(), joined, now.nanos());
    put(object, joined, now);
  }

  /**
   * Returns the state to which an update was joined. Asking the store again could unpack another
   * copy.
   */
  private CrdtState joinedTo(ObjectId object) {
    CrdtState state = object.equals(gotObject) ? got : store.get(object);
    gotObject = null;
    got = null;
    return state == null ? CrdtState.bottom(object.type()) : state;
  }
}
