package io.osier.propagation.send;

import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.wire.Shipment;
import org.jspecify.annotations.Nullable;

/**
 * What a peer that catches up is sent of one object: the joined updates that it misses, or the
 * state, or nothing, because it has all or pulls it. In which order objects are looked at is not
 * known here. Not thread-safe.
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

  /** The state that a scan or the log finds; null if the peer has pulled it, or is to. */
  @Nullable Shipment found(ObjectId object, CrdtState state) {
    boolean isPulled = offers.isPending(object) || offers.pulled(object) != null;
    return isPulled || offers.takes(object, state) ? null : full(object, state);
  }

  /**
   * The joined updates that the peer misses of one object, or its state where that is smaller; null
   * if there are none, or it is to pull the object.
   *
   * @param base what was shipped up to this tick it has
   * @param peerThrough it has every update of this datacenter up to this commit number
   */
  @Nullable Shipment missing(ObjectLog object, long base, long peerThrough, long nowNanos) {
    CrdtState state = around.replica().state(object.object);
    if (state == null) {
      return null; // dropped, since every datacenter has seen it removed
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

  /** What is lacking, beside what was pulled, of an object that was passed; null if nothing is. */
  @Nullable Shipment passed(ObjectId object, long base, long peerThrough, long nowNanos) {
    ObjectLog kept = log.find(object);
    StateOffers.Pulled pulled = offers.pulled(object);
    // What is kept may be the last of it alone: it serves who has all that was shipped before.
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

  /** The last own update of a state. */
  long last(CrdtState state) {
    return state.context().through(around.self());
  }

  private Shipment full(ObjectId object, CrdtState state) {
    return new Shipment(object, around.self(), 0, VersionVector.EMPTY, last(state), 0, 0, state);
  }
}
