package io.osier.datacenter.store;

import io.osier.core.Key;
import io.osier.crdt.Causal;
import io.osier.propagation.ObjectId;
import java.util.List;
import java.util.Optional;

/**
 * Where a partition keeps its objects. One thread writes, the partition's; any thread may read, and
 * sees for each object an immutable version that was committed.
 */
public interface ObjectStore {
  /** The object's state, or null if it was never written. */
  Causal get(ObjectId object);

  /** The states that a key holds: nearly always one, several after a conflict of types. */
  List<Causal> get(Key key);

  /** Sets the object's state. Only for the partition's thread. */
  void put(ObjectId object, Causal state);

  /**
   * Objects in their order.
   *
   * @param after the first object is the one after this; empty for the beginning
   * @param limit at most so many
   * @return fewer than {@code limit} only at the end; what is written meanwhile may or may not be
   *     in it
   */
  List<Entry> scan(Optional<ObjectId> after, int limit);

  /** How many objects there are, roughly while they are being written. */
  long size();

  /** An object with its state. */
  record Entry(ObjectId object, Causal state) {}
}
