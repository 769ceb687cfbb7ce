package io.osier.propagation.send;

import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.wire.Shipment;
import org.jspecify.annotations.Nullable;

/**
 * Decides what a peer that catches up is sent of one object: the joined updates that it misses, the
 * state, or nothing, because the peer has everything or is to pull it. The class does not know in
 * which order objects are looked at. Not thread-safe.
 */
final class CatchUpShipments {
  private final ReplicationContext around;
  private final OutboundLog log;
  private final StateOffers offers;

  CatchUpShipments(ReplicationContext around, OutboundLog log, StateOffers offers) {
    this.around = around;
    this.log = log;
    this.offers = offers;
  }

  /**
   * Returns a state that a scan or the log has found, as a shipment; null if the peer has pulled
   * the object or is to pull it.
   */
  @Nullable Shipment found(ObjectId object, CrdtState state) {
    boolean isPulled = offers.isPending(object) || offers.pulled(object) != null;
    return isPulled || offers.takes(object, state) ? null : full(object, state);
  }

  /**
   * Returns the joined updates of one object that the peer misses, or the object's state where that
   * is smaller; null if the peer misses none or is to pull the object.
   *
   * @param base the peer has whatever was shipped up to this tick
   * @param peerThrough the peer has every update of this datacenter up to this commit number
   */
  @Nullable Shipment missing(ObjectLog object, long base, long peerThrough, long nowNanos) {
    CrdtState state = around.replica().state(object.object);
    if (state == null) {
      return null; // dropped, since every datacenter has seen the object removed
    }
    StateOffers.Pulled pulled = offers.pulled(object.object);
    if (offers.isPending(object.object) || (pulled != null && !object.isNewerThan(pulled.tick()))) {
      return null;
    }
    LogSegment segment = object.since(pulled == null ? base : Math.max(base, pulled.tick()));
    if (segment == null
        || segment.delta().isFull() // see Outbound.isWhole
        || segment.delta().sizeBytes() >= state.sizeBytes()) {
      boolean isHere = last(state) <= peerThrough || offers.takes(object.object, state);
      return isHere ? null : full(object.object, state);
    }
    return segment.last() <= peerThrough
        ? null
        : segment.shipment(object.object, around.self(), nowNanos);
  }

  /**
   * Returns what the peer lacks, beyond what it has pulled, of an object that was passed; null if
   * it lacks nothing.
   */
  @Nullable Shipment passed(ObjectId object, long base, long peerThrough, long nowNanos) {
    ObjectLog kept = log.find(object);
    StateOffers.Pulled pulled = offers.pulled(object);
    // The log may keep only the object's latest updates, which suffice for a peer that has all
    // earlier ones.
    if (kept != null && pulled != null && pulled.tick() >= log.prunedTick()) {
      return missing(kept, base, peerThrough, nowNanos);
    }
    CrdtState state = around.replica().state(object);
    if (state == null) {
      return null;
    }
    boolean isHere =
        (pulled != null && last(state) <= pulled.last()) || offers.takes(object, state);
    return isHere ? null : full(object, state);
  }

  /** Returns the commit number of this datacenter's last update in a state. */
  long last(CrdtState state) {
    return state.context().through(around.self());
  }

  private Shipment full(ObjectId object, CrdtState state) {
    return new Shipment(object, around.self(), 0, VersionVector.EMPTY, last(state), 0, 0, state);
  }
}
