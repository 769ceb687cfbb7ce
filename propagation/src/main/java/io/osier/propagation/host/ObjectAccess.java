package io.osier.propagation.host;

import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import org.jspecify.annotations.Nullable;

/** The objects of a partition, as its streams see them. Used by the partition's thread only. */
public interface ObjectAccess {
  /** Returns the object's state; null if it was never written. */
  @Nullable CrdtState state(ObjectId object);

  /**
   * Makes a received update part of the object: joins, stores, journals.
   *
   * @param update what was received
   * @param joined the object's new state
   */
  void apply(Shipment update, CrdtState joined);

  /** Returns the objects in their order, and the log. */
  StoredObjects stored();

  /**
   * Makes everything visible in one step that was applied since the last call. Called only in
   * {@code causal} keyspaces.
   */
  default void admitted() {}

  /** Notes that a peer needs rights of a bounded counter. */
  default void rightsWanted(String dc, Frame.Rights wanted) {}
}
