package io.osier.datacenter.store;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.tree.EntrySource;
import io.osier.propagation.host.StoredObjects.Logged;
import io.osier.protocol.TransactionId;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The versions of one partition's objects: snapshots and operations, each with the version vector
 * of its time, and at most one snapshot in place, which replaces the one before. Atomic groups of
 * {@link Change}s are written; reads give an object's newest version. Versions are kept after
 * Alvarez Colombo, "Scalable multiversion handling for geo-replicated storage" (2017). Any thread
 * may read; the adapter says which thread writes.
 */
public interface VersionStore {
  /**
   * An object as read from its records.
   *
   * @param operations how many operations were joined to the newest snapshot
   * @param operationBytes their sizes
   * @param hasVersions whether there may be versions of it; if not, the object is the state in
   *     place, which says that it is alone
   */
  record Loaded(CrdtState state, int operations, long operationBytes, boolean hasVersions) {}

  /**
   * Returns the written entries of a decomposed object as they are now; later writes are not seen.
   */
  EntrySource entries(ObjectId object);

  /**
   * Returns the newest versions of a key's objects, in the order of their types: of each the newest
   * snapshot, joined with the operations whose time is not at most that of the snapshot. A replica
   * that a time does not name counts as 0. Of several snapshots that are concurrent to each other
   * any one is taken: together with the operations after it, each gives the same object.
   */
  List<Loaded> load(Key key);

  /**
   * Returns objects in their order.
   *
   * @param after the first object is the one after this; empty for the beginning
   * @param to the key before which the list ends; empty for no end
   * @param limit the most objects to return; fewer only at the end
   */
  List<ObjectId> objects(Optional<ObjectId> after, Optional<Key> to, int limit);

  /** As {@link #objects(Optional, Optional, int)}, without an end. */
  default List<ObjectId> objects(Optional<ObjectId> after, int limit) {
    return objects(after, Optional.empty(), limit);
  }

  /**
   * Returns objects that are noted as only remembering their removal, in their order.
   *
   * @param after the first object is the one after this; empty for the beginning
   * @param limit the most objects to return; fewer only at the end
   */
  List<ObjectId> removed(Optional<ObjectId> after, int limit);

  /**
   * Returns the noted deadlines of objects, in the order of time.
   *
   * @param after the first is the one after this; empty for the beginning
   * @param limit the most deadlines to return; fewer only at the end
   */
  List<Deadline> deadlines(Optional<Deadline> after, int limit);

  /** Returns the log of the datacenter's own updates after a commit number, in their order. */
  List<Logged> logged(long after, int limit);

  /** Returns the noted transactions, in the order of their commit numbers. */
  List<Committed> transactions();

  record Committed(long number, TransactionId transaction) {}

  /**
   * Returns the types of the partition's objects, if every object has a state in place; empty if
   * that is not known, as in a store of a former version.
   */
  Optional<Set<CrdtType>> types();

  /** Returns the partition's state as stored last; empty if none was. */
  Optional<StoredState> state();

  /** Returns whether some of the store is known to be damaged. For any thread; cheap. */
  default boolean isDamaged() {
    return false;
  }
}
