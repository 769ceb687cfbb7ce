package io.osier.propagation.host;

import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.List;
import java.util.function.Supplier;

/**
 * Hears what becomes of a partition's updates, so that some of them can be followed from their
 * commit until they are visible elsewhere. Nothing that a partition does depends on it.
 *
 * <p>Called by whoever runs the partition, one thread at a time; must neither wait nor throw.
 */
public interface UpdateObserver {
  /** Nobody wants to hear. */
  UpdateObserver NONE = new UpdateObserver() {};

  /** Whether anything is wanted; otherwise nothing else need be called. Never changes. */
  default boolean isOn() {
    return false;
  }

  /** The keyspace behaves so from now on. */
  default void configured(KeyspacePolicy policy) {}

  /** Whether an own update is followed; of others {@link #committed} need not be told. */
  default boolean follows(long number) {
    return false;
  }

  /**
   * An update was committed here.
   *
   * @param number its commit number
   * @param held whether it waits for a round
   * @param why the object has this mode, in words; asked for only if it is wanted
   * @param sinceNanos when it was acknowledged, if that was before its commit; or now
   * @param answered whether a client's request ends with this number
   */
  default void committed(
      ObjectId object,
      long number,
      boolean held,
      Supplier<String> why,
      long sinceNanos,
      boolean answered) {}

  /** Own updates on an object leave together; this was set aside for their acknowledgement. */
  default void left(Frame.Kind kind, Shipment updates, long coordinationNanos) {}

  /** A frame was made for a peer, maybe of updates that had to wait for the link. */
  default void shipped(
      String peer, Frame.Kind kind, boolean outage, List<Shipment> shipments, long nowNanos) {}

  /** The next frame of a peer's stream has come. */
  default void arrived(ReplicaId peer, Frame.Updates frame) {}

  /**
   * A peer has sent what it has of an origin, or of objects in whose updates something is missing.
   */
  default void brought(ReplicaId peer, List<Shipment> shipments) {}

  /**
   * What has come cannot be applied yet.
   *
   * @param missing others' updates that it builds on; empty if it waits for one of its own origin
   */
  default void waits(Shipment shipment, VersionVector missing) {}

  /** A cut up to this number has come and waits for, or with, what is missing. */
  default void cutWaits(ReplicaId origin, long through, VersionVector missing) {}

  default void visible(Shipment shipment) {}

  /** What has come is dropped: what is in it was here before. */
  default void known(Shipment shipment) {}
}
