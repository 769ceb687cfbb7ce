package io.osier.propagation.receive;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.pull.PeerAnswer;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

/**
 * Makes updates of a {@code session} keyspace visible at once, each object for itself. An update
 * that builds on one that is not here waits for it; updates of several origins that build on each
 * other are applied as one. Not thread-safe.
 */
final class ObjectVisibility implements Visibility {
  private final ReplicationContext around;
  private final InboundStreams streams;
  private final ReceivedVector knowledge;
  private final UpdateApplier applier;
  private final RepairBuffer repairs;
  private final PathSkew skew;
  private final FetchPolicy fetches;

  ObjectVisibility(
      ReplicationContext around,
      InboundStreams streams,
      ReceivedVector knowledge,
      UpdateApplier applier,
      RepairBuffer repairs,
      PathSkew skew,
      FetchPolicy fetches) {
    this.around = around;
    this.streams = streams;
    this.knowledge = knowledge;
    this.applier = applier;
    this.repairs = repairs;
    this.skew = skew;
    this.fetches = fetches;
  }

  @Override
  public void updates(
      InboundStream in, Frame.Updates frame, long ackNanos, long nowNanos, long nowMillis) {
    boolean outage = frame.outage() || in.liveness().wasOutage(frame.sentMillis());
    if (outage) {
      in.liveness().heldUp(nowNanos);
    }
    for (Shipment shipment : frame.shipments()) {
      take(in, shipment, outage, frame.sentMillis(), nowNanos, nowMillis);
    }
    streams.placeChanged();
    in.took(frame, ackNanos);
    knowledge.complete(in.sender(), in.complete());
  }

  private void take(
      InboundStream in,
      Shipment shipment,
      boolean outage,
      long sentMillis,
      long nowNanos,
      long nowMillis) {
    skew.arrived(shipment.origin(), shipment.object(), shipment.last(), nowNanos);
    boolean blocked = in.pending().has(shipment.object()) && !shipment.content().isFull();
    if (blocked || !applier.isReady(shipment)) {
      if (!applier.isKnown(shipment)) {
        VersionVector missing = applier.missing(shipment);
        in.keep(shipment, missing, outage, sentMillis, nowNanos);
        if (around.observer().isOn()) {
          around.observer().waits(shipment, missing);
        }
        skew.early(in.sender().dc(), shipment.object(), missing, nowNanos);
        applyMutual(shipment.object(), nowNanos, nowMillis);
      } else if (around.observer().isOn()) {
        around.observer().known(shipment);
      }
      return;
    }
    if (applier.apply(shipment)) {
      streams.visible(in, shipment, outage, sentMillis, 0, nowMillis);
      retryEarly(shipment.object(), nowNanos, nowMillis);
    }
  }

  /** Applies an object's waiting updates of several origins that build on each other, as one. */
  private void applyMutual(ObjectId object, long nowNanos, long nowMillis) {
    List<List<Shipment>> queues = repairs.early(object);
    for (InboundStream in : streams.holding()) {
      if (in.pending().has(object)) {
        queues.add(in.pending().of(object));
      }
    }
    if (queues.size() < 2) {
      return; // the updates of a single stream build on each other in their order
    }
    CausalContext here = applier.context(object);
    List<Shipment> together = DependencyCycles.closed(queues, r -> applier.seen(here, r));
    if (together.isEmpty()) {
      return;
    }
    applier.applyTogether(together);
    for (InboundStream in : streams.holding()) {
      PendingUpdates.Pending early = in.pending().first(object);
      while (early != null && applier.isKnown(early.shipment())) {
        drop(in, early, nowNanos, nowMillis);
        early = in.pending().first(object);
      }
    }
    retryEarly(object, nowNanos, nowMillis);
  }

  private void drop(InboundStream in, PendingUpdates.Pending early, long nowNanos, long nowMillis) {
    boolean outage = early.outage() || waitedForOutage(early, nowNanos);
    long waitedNanos = nowNanos - early.sinceNanos();
    streams.visible(in, early.shipment(), outage, early.sentMillis(), waitedNanos, nowMillis);
    in.dropFirst(early.shipment().object());
    streams.placeChanged();
    knowledge.complete(in.sender(), in.complete());
  }

  /** Whether an update waited for an origin that was out of reach meanwhile. */
  private boolean waitedForOutage(PendingUpdates.Pending early, long nowNanos) {
    for (int i = 0; i < early.missing().size(); i++) {
      ReplicaId origin = early.missing().replica(i);
      if (!fetches.isStreaming(origin, nowNanos)
          || streams.of(origin.dc()).wasInterruptedAfter(early.sinceNanos())) {
        return true;
      }
    }
    return false;
  }

  private void retryEarly(ObjectId object, long nowNanos, long nowMillis) {
    boolean progress = true;
    while (progress) {
      progress = false;
      for (InboundStream in : streams.holding()) {
        PendingUpdates.Pending early = in.pending().first(object);
        if (early != null
            && (applier.isKnown(early.shipment()) || applier.isReady(early.shipment()))) {
          applier.apply(early.shipment());
          drop(in, early, nowNanos, nowMillis);
          progress = true;
        }
      }
    }
  }

  @Override
  public void states(
      InboundStream in, PeerAnswer answer, boolean expected, long nowNanos, long nowMillis) {
    for (Shipment shipment : answer.states().shipments()) {
      if (!applier.isReady(shipment) && !applier.isKnown(shipment)) {
        repairs.keepEarly(in.sender(), shipment.origin(), shipment);
        applyMutual(shipment.object(), nowNanos, nowMillis);
      } else if (applier.apply(shipment)) {
        around.stats().healed();
        around.stats().applied(shipment.updates());
        retryEarly(shipment.object(), nowNanos, nowMillis);
      }
    }
  }

  @Override
  public void verified(InboundStream in, Frame.Verified verified, long nowNanos, long nowMillis) {
    for (Shipment shipment : verified.shipments()) {
      if (applier.apply(shipment)) {
        around.stats().healed();
        retryEarly(shipment.object(), nowNanos, nowMillis);
      }
    }
  }

  @Override
  public void pulled(InboundStream in, Shipment state, long nowNanos, long nowMillis) {
    if (applier.apply(state)) {
      retryEarly(state.object(), nowNanos, nowMillis);
    }
  }

  @Override
  public void repaired(Frame.States last) {
    knowledge.complete(last.origin().orElseThrow(), last.through());
  }

  @Override
  public void givenUp(ReplicaId peer, ReplicaId origin) {
    // Everything received is visible, or is kept by the repair.
  }

  @Override
  public boolean ended(ReplicaId former) {
    // It is visible, or waits for updates that others have; the stream is kept for that.
    return false;
  }

  @Override
  public void returned(ReplicaId peer) {
    // The peer's stream was kept.
  }

  @Override
  public Optional<CrdtState> waitingState(InboundStream in, Frame.Offer offer) {
    return Optional.empty(); // pulled states are visible at once
  }

  /**
   * Counts the updates of streams that have ended: a peer that still ships is asked for what is
   * missing.
   */
  @Override
  public int waiting() {
    int waiting = 0;
    for (InboundStream in : streams.left()) {
      waiting += in.pending().count();
    }
    return waiting;
  }

  @Override
  public List<ReplicaId> holdPulled(
      BiConsumer<ReplicaId, ReplicaId> lost, long nowNanos, long nowMillis) {
    return List.of(); // pulled states are visible at once
  }

  @Override
  public void sweepLeft(Predicate<ReplicaId> lost, long nowNanos, long nowMillis) {
    for (InboundStream in : List.copyOf(streams.left())) {
      for (ObjectId object : in.pending().objects()) {
        retryEarly(object, nowNanos, nowMillis); // a repair may have shown that the update is known
        PendingUpdates.Pending first = in.pending().first(object);
        if (first != null && needsLost(first.shipment(), lost)) {
          in.giveUp(object);
        }
      }
    }
  }

  /** Whether an update builds on one that is lost: nobody has it, and it does not wait here. */
  private boolean needsLost(Shipment shipment, Predicate<ReplicaId> lost) {
    VersionVector missing = applier.missing(shipment);
    for (int i = 0; i < missing.size(); i++) {
      ReplicaId origin = missing.replica(i);
      if (lost.test(origin) && !holds(origin, shipment.object())) {
        return true;
      }
    }
    return false;
  }

  private boolean holds(ReplicaId origin, ObjectId object) {
    for (InboundStream in : streams.holding()) {
      if (in.sender().equals(origin) && in.pending().has(object)) {
        return true;
      }
    }
    return repairs.early(object).stream().anyMatch(q -> q.getFirst().origin().equals(origin));
  }

  @Override
  public void weigh(Hearing hearing) {
    // The stream alone says whether it may be held back.
  }

  /**
   * Returns true if updates of the stream wait: the updates that they wait for come from others, or
   * are fetched as a state, which waits for nothing.
   */
  @Override
  public boolean mayHoldBack(InboundStream in) {
    return in.pending().heapBytes() > 0;
  }

  @Override
  public boolean mayRefuse() {
    return false;
  }

  @Override
  public long waitingBytes() {
    long bytes = repairs.earlyBytes() + streams.pulledBytes();
    for (InboundStream in : streams.holding()) {
      bytes += in.pending().heapBytes();
    }
    return bytes;
  }

  @Override
  public long leftBytes() {
    long bytes = 0;
    for (InboundStream in : streams.left()) {
      bytes += in.pending().heapBytes();
    }
    return bytes;
  }

  @Override
  public boolean isWaiting(ReplicaId origin) {
    for (InboundStream in : streams.left()) {
      if (in.sender().equals(origin)) {
        return true;
      }
    }
    return false;
  }
}
