package io.osier.propagation.host;

import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
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

  /** The objects in their order, and the log. */
  StoredObjects stored();

  /**
   * What was applied since the last call becomes visible now, in one step: only in {@code causal}
   * keyspaces.
   */
  default void admitted() {}

  /** A peer needs rights of a bounded counter. */
  default void rightsWanted(String dc, Frame.Rights wanted) {}
}
