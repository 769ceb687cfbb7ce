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
 * of its time, and at most one snapshot that is put in place of the last such one. What is written
 * are atomic groups of {@link Change}s; of an object the newest version is read. How versions are
 * kept is after Alvarez Colombo, "Scalable multiversion handling for geo-replicated storage"
 * (2017). Any thread may read; who writes is up to the adapter.
 */
public interface VersionStore {
  /**
   * An object as its records give it.
   *
   * @param operations how many operations were joined to the newest snapshot
   * @param operationBytes their sizes
   * @param hasVersions whether there may be versions of it: otherwise it is what was put in place,
   *     and that says that it is alone
   */
  record Loaded(CrdtState state, int operations, long operationBytes, boolean hasVersions) {}

  /** What is written of a decomposed object's entries by now; not what is written later. */
  EntrySource entries(ObjectId object);

  /**
   * The newest versions of the objects of a key, in the order of their types: of each the most
   * recent snapshot, joined with the operations whose time is not at most that of the snapshot. A
   * replica that a time does not name counts as 0. Of several snapshots that are concurrent to each
   * other any one is taken: together with the operations after it, each gives the same object.
   */
  List<Loaded> load(Key key);

  /**
   * Objects in their order.
   *
   * @param after the first object is the one after this; empty for the beginning
   * @param to where they end: of this key and of what follows it there is none; empty for no end
   * @param limit at most so many; fewer only at the end
   */
  List<ObjectId> objects(Optional<ObjectId> after, Optional<Key> to, int limit);

  /** As {@link #objects(Optional, Optional, int)}, of all keys. */
  default List<ObjectId> objects(Optional<ObjectId> after, int limit) {
    return objects(after, Optional.empty(), limit);
  }

  /**
   * Objects of which it is noted that they only remember their removal, in their order.
   *
   * @param after the first object is the one after this; empty for the beginning
   * @param limit at most so many; fewer only at the end
   */
  List<ObjectId> removed(Optional<ObjectId> after, int limit);

  /**
   * When objects are over, as far as it is noted, in the order of time.
   *
   * @param after the first is the one after this; empty for the beginning
   * @param limit at most so many; fewer only at the end
   */
  List<Deadline> deadlines(Optional<Deadline> after, int limit);

  /** The log of the datacenter's own updates after a commit number, in their order. */
  List<Logged> logged(long after, int limit);

  /** The transactions that were noted and not dropped, in the order of their commit numbers. */
  List<Committed> transactions();

  record Committed(long number, TransactionId transaction) {}

  /** The types of the partition's objects, if each has a state in its place; empty if unknown. */
  Optional<Set<CrdtType>> types();

  /** What was stored last of the partition itself; empty if nothing was. */
  Optional<StoredState> state();

  /** Whether something of the store is known to be damaged. For any thread; cheap. */
  default boolean isDamaged() {
    return false;
  }
}
