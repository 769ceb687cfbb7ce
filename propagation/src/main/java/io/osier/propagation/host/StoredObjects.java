package io.osier.propagation.host;

import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import java.util.List;
import java.util.Optional;

/**
 * A partition's objects in their order, and the log of its own updates: what its streams read of a
 * store.
 */
public interface StoredObjects {
  /**
   * Returns objects in their order.
   *
   * @param after the first object is the one after this; empty for the beginning
   * @param limit about the largest number of objects
   * @return none only at the end; an object that is written meanwhile may or may not be included
   */
  List<Entry> scan(Optional<ObjectId> after, int limit);

  /**
   * As {@link #scan}, of bounded size where objects are read from a disk for it.
   *
   * @param bytesMax the page ends with the object that makes it reach this size
   */
  default Page pageNow(Optional<ObjectId> after, int limit, long bytesMax) {
    List<Entry> entries = scan(after, limit);
    return new Page(entries, entries.isEmpty());
  }

  /**
   * As {@link #pageNow}, but without waiting for a disk. Only for the partition's thread.
   *
   * @param bytesMax the page ends with the object that makes it reach this size
   * @return empty if another thread is reading the page: the partition is woken when it is in
   *     memory, and asks again
   */
  default Optional<Page> page(Optional<ObjectId> after, int limit, long bytesMax) {
    return Optional.of(pageNow(after, limit, bytesMax));
  }

  /**
   * Whether objects can be had without a disk. If not, another thread reads them, and the partition
   * is woken when they are in memory. Objects that were read and evicted again count as in memory:
   * they must not be read for ever. Only for the partition's thread.
   */
  default boolean areAtHand(List<ObjectId> objects) {
    return true;
  }

  /** Returns the commit number up to which the log has no entries, though there were some. */
  default long loggedAfter() {
    return 0;
  }

  /**
   * Returns the log's entries for this incarnation's updates, in the order of their commit numbers.
   *
   * @param after the first entry is the one after this number
   * @param limit the most entries; there are fewer only at the end
   */
  List<Logged> logged(long after, int limit);

  /** One of this incarnation's updates: its commit number and the object that it changed. */
  record Logged(long number, ObjectId object) {}

  /** An object with its state. */
  record Entry(ObjectId object, CrdtState state) {}

  /**
   * Some objects in their order.
   *
   * @param end whether no other wanted object follows
   */
  record Page(List<Entry> entries, boolean end) {}
}
