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
 * Is told what becomes of a partition's updates, so that some of them can be followed from their
 * commit until they are visible elsewhere. Nothing that a partition does depends on it.
 *
 * <p>Called by the thread that runs the partition, one at a time; must neither wait nor throw.
 */
public interface UpdateObserver {
  /** An observer that wants to be told nothing. */
  UpdateObserver NONE = new UpdateObserver() {};

  /**
   * Whether the observer wants to be told anything; otherwise the other methods need not be called.
   * Never changes.
   */
  default boolean isOn() {
    return false;
  }

  /** Notes that the keyspace has this policy from now on. */
  default void configured(KeyspacePolicy policy) {}

  /** Whether an own update is followed; for others {@link #committed} need not be called. */
  default boolean follows(long number) {
    return false;
  }

  /**
   * Notes that an update was committed here.
   *
   * @param number its commit number
   * @param held whether it waits for a round
   * @param why returns in words why the object has this mode; called only if that is wanted
   * @param sinceNanos when it was acknowledged, if that was before its commit; otherwise now
   * @param answered whether a client's request ends with this number
   */
  default void committed(
      ObjectId object,
      long number,
      boolean held,
      Supplier<String> why,
      long sinceNanos,
      boolean answered) {}

  /**
   * Notes that own updates on an object leave: they do not wait for a round, or no longer.
   *
   * @param updates all updates that leave together; the shipment's number is the last one's
   * @param coordinationNanos μ: the time that was set aside for the round's acknowledgement
   */
  default void left(Frame.Kind kind, Shipment updates, long coordinationNanos) {}

  /**
   * Notes that a frame was made for a peer.
   *
   * @param outage whether the updates had to wait for the link
   * @param nowNanos the time of the frame
   */
  default void shipped(
      String peer, Frame.Kind kind, boolean outage, List<Shipment> shipments, long nowNanos) {}

  /** Notes that the next frame of a peer's stream was received. */
  default void arrived(ReplicaId peer, Frame.Updates frame) {}

  /**
   * Notes that a peer has sent its updates of an origin, or of objects in whose updates something
   * is missing.
   */
  default void brought(ReplicaId peer, List<Shipment> shipments) {}

  /**
   * Notes that a shipment was received and cannot be applied yet.
   *
   * @param missing others' updates that it builds on; empty if it waits for one of its own origin
   */
  default void waits(Shipment shipment, VersionVector missing) {}

  /**
   * Notes that a cut was received and cannot be admitted yet.
   *
   * @param through the last of the origin's numbers that it includes
   * @param missing the updates that must be visible before it, or together with it
   */
  default void cutWaits(ReplicaId origin, long through, VersionVector missing) {}

  default void visible(Shipment shipment) {}

  /** Notes that a shipment was dropped, since everything in it was here before. */
  default void known(Shipment shipment) {}
}
