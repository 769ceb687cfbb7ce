package io.osier.propagation.host;

import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The objects of a partition, as its streams see them. Used by the partition's thread only. */
public interface ObjectAccess {
  /** The object's state, or null if it was never written. */
  @Nullable CrdtState state(ObjectId object);

  /**
   * Makes a received update part of the object: joins, stores, journals.
   *
   * @param update what was received
   * @param joined the object's new state
   */
  void apply(Shipment update, CrdtState joined);

  /**
   * Objects in their order, with their states.
   *
   * @param after the first object is the one after this; empty for the beginning
   * @param limit at most so many; fewer only at the end
   */
  List<Entry> scan(Optional<ObjectId> after, int limit);

  /**
   * As {@link #scan}, of bounded size where objects are read from a disk for it.
   *
   * @param bytesMax the page ends with the object that makes it so large
   */
  default Page pageNow(Optional<ObjectId> after, int limit, long bytesMax) {
    List<Entry> entries = scan(after, limit);
    return new Page(entries, entries.size() < limit);
  }

  /**
   * As {@link #pageNow}, for whoever can wait until it was read from a disk by another thread.
   *
   * @param bytesMax the page ends with the object that makes it so large
   * @return empty if it is being read: a tick follows when it is here
   */
  default Optional<Page> page(Optional<ObjectId> after, int limit, long bytesMax) {
    return Optional.of(pageNow(after, limit, bytesMax));
  }

  /**
   * Whether objects can be had without a disk. If not they are being read, and a tick follows when
   * they are here. What was read and has gone again counts as here: it must not be read for ever.
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

  /**
   * What was applied since the last call becomes visible now, in one step: only in {@code causal}
   * keyspaces.
   */
  default void admitted() {}

  /** A peer needs rights of a bounded counter. */
  default void rightsWanted(String dc, Frame.Rights wanted) {}

  /** One of this incarnation's updates: its commit number and which object it changed. */
  record Logged(long number, ObjectId object) {}

  /** An object with its state. */
  record Entry(ObjectId object, CrdtState state) {}

  /**
   * Some objects in their order.
   *
   * @param end whether no other comes after them
   */
  record Page(List<Entry> entries, boolean end) {}
}
