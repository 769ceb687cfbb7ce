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
   * Objects in their order.
   *
   * @param after the first object is the one after this; empty for the beginning
   * @param limit about so many
   * @return none only at the end; what is written meanwhile may or may not be in it
   */
  List<Entry> scan(Optional<ObjectId> after, int limit);

  /** As {@link #scan}, but the page ends with the object that makes it larger than this. */
  default Page pageNow(Optional<ObjectId> after, int limit, long bytesMax) {
    List<Entry> entries = scan(after, limit);
    return new Page(entries, entries.isEmpty());
  }

  /**
   * As {@link #pageNow}, as far as it can be had without a disk. Only for the partition's thread.
   *
   * @param bytesMax the page ends with the object that makes it so large
   * @return empty if it is being read by another thread: the partition is woken when it is here,
   *     and asks again
   */
  default Optional<Page> page(Optional<ObjectId> after, int limit, long bytesMax) {
    return Optional.of(pageNow(after, limit, bytesMax));
  }

  /**
   * Whether objects can be had without a disk; if not they are being read by another thread, and
   * the partition is woken when they are here. What was read and has gone again counts as here: it
   * must not be read for ever. Only for the partition's thread.
   */
  default boolean areAtHand(List<ObjectId> objects) {
    return true;
  }

  /** The log has no entries up to this commit number, though there were some. */
  default long loggedAfter() {
    return 0;
  }

  /**
   * What the log tells of this incarnation's updates, in the order of their commit numbers.
   *
   * @param after the first entry is the one after this number
   * @param limit at most so many; fewer only at the end
   */
  List<Logged> logged(long after, int limit);

  /** One of this incarnation's updates: its commit number and which object it changed. */
  record Logged(long number, ObjectId object) {}

  /** An object with its state. */
  record Entry(ObjectId object, CrdtState state) {}

  /** Some objects in their order; {@code end} if no other comes after them that is wanted. */
  record Page(List<Entry> entries, boolean end) {}
}
