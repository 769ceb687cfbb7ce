package io.osier.propagation.in;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.propagation.Frame;
import io.osier.propagation.Shipment;
import io.osier.propagation.Surroundings;
import java.util.List;

/**
 * In a {@code session} keyspace: what comes is visible at once, each object for itself. What builds
 * on an update that is not here is held until that comes; and what comes of several origins and
 * builds on each other is applied as one. Not thread-safe.
 */
final class PerObject implements Visibility {
  private final Surroundings around;
  private final Streams streams;
  private final Knowledge knowledge;
  private final Applier applier;
  private final Early early;
  private final PathSkew skew;
  private final Flowing flowing;

  /** Whether a stream flows. */
  @FunctionalInterface
  interface Flowing {
    boolean test(ReplicaId origin, long nowNanos);
  }

  PerObject(
      Surroundings around,
      Streams streams,
      Knowledge knowledge,
      Applier applier,
      Early early,
      PathSkew skew,
      Flowing flowing) {
    this.around = around;
    this.streams = streams;
    this.knowledge = knowledge;
    this.applier = applier;
    this.early = early;
    this.skew = skew;
    this.flowing = flowing;
  }

  @Override
  public void updates(
      InboundStream in, Frame.Updates frame, long ackNanos, long nowNanos, long nowMillis) {
    boolean outage = frame.outage() || in.wasOutage(frame.sentMillis());
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
    boolean blocked = in.holds(shipment.object()) && !shipment.content().isFull();
    if (blocked || !applier.isReady(shipment)) {
      if (!applier.isKnown(shipment)) {
        VersionVector missing = applier.missing(shipment);
        in.hold(shipment, missing, outage, sentMillis, nowNanos);
        skew.held(in.sender().dc(), shipment.object(), missing, nowNanos);
        applyMutual(shipment.object(), nowNanos, nowMillis);
      }
      return;
    }
    if (applier.apply(shipment)) {
      streams.visible(in, shipment, outage, sentMillis, 0, nowMillis);
      retryHeld(shipment.object(), nowNanos, nowMillis);
    }
  }

  /** Applies what is held of an object, of several origins, and builds on each other, as one. */
  private void applyMutual(ObjectId object, long nowNanos, long nowMillis) {
    List<List<Shipment>> queues = early.held(object);
    for (InboundStream in : streams.all()) {
      if (in.holds(object)) {
        queues.add(in.held(object));
      }
    }
    if (queues.size() < 2) {
      return; // a stream's updates build on each other in their order
    }
    CausalContext here = applier.context(object);
    List<Shipment> together = MutualNeeds.closed(queues, r -> applier.seen(here, r));
    if (together.isEmpty()) {
      return;
    }
    applier.applyTogether(together);
    for (InboundStream in : streams.all()) {
      InboundStream.Held held = in.firstHeld(object);
      while (held != null && applier.isKnown(held.shipment())) {
        drop(in, held, nowNanos, nowMillis);
        held = in.firstHeld(object);
      }
    }
    retryHeld(object, nowNanos, nowMillis);
  }

  private void drop(InboundStream in, InboundStream.Held held, long nowNanos, long nowMillis) {
    boolean outage = held.outage() || waitedForOutage(held, nowNanos);
    long heldNanos = nowNanos - held.sinceNanos();
    streams.visible(in, held.shipment(), outage, held.sentMillis(), heldNanos, nowMillis);
    in.dropFirstHeld(held.shipment().object());
    streams.placeChanged();
    knowledge.complete(in.sender(), in.complete());
  }

  /** Whether what an update waited for is of an origin that was out of reach meanwhile. */
  private boolean waitedForOutage(InboundStream.Held held, long nowNanos) {
    for (int i = 0; i < held.missing().size(); i++) {
      ReplicaId origin = held.missing().replica(i);
      if (!flowing.test(origin, nowNanos)
          || streams.get(origin.dc()).wasInterruptedAfter(held.sinceNanos())) {
        return true;
      }
    }
    return false;
  }

  private void retryHeld(ObjectId object, long nowNanos, long nowMillis) {
    boolean progress = true;
    while (progress) {
      progress = false;
      for (InboundStream in : streams.all()) {
        InboundStream.Held held = in.firstHeld(object);
        if (held != null
            && (applier.isKnown(held.shipment()) || applier.isReady(held.shipment()))) {
          applier.apply(held.shipment());
          drop(in, held, nowNanos, nowMillis);
          progress = true;
        }
      }
    }
  }

  @Override
  public void states(
      InboundStream in, Frame.States states, boolean expected, long nowNanos, long nowMillis) {
    for (Shipment shipment : states.shipments()) {
      if (!applier.isReady(shipment) && !applier.isKnown(shipment)) {
        early.hold(in.sender(), shipment.origin(), shipment);
        applyMutual(shipment.object(), nowNanos, nowMillis);
      } else if (applier.apply(shipment)) {
        around.stats().healed();
        around.stats().applied(shipment.updates());
        retryHeld(shipment.object(), nowNanos, nowMillis);
      }
    }
  }

  @Override
  public void verified(InboundStream in, Frame.Verified verified, long nowNanos, long nowMillis) {
    for (Shipment shipment : verified.shipments()) {
      if (applier.apply(shipment)) {
        around.stats().healed();
        retryHeld(shipment.object(), nowNanos, nowMillis);
      }
    }
  }

  @Override
  public void healed(Frame.States last) {
    knowledge.complete(last.origin().orElseThrow(), last.through());
  }

  @Override
  public void ended(ReplicaId former) {
    // What came of it is visible, or waits for what others have.
  }

  @Override
  public int waiting() {
    return 0;
  }

  /** What its updates wait for comes, or is fetched as a state, which waits for nothing. */
  @Override
  public boolean mayHoldBack(InboundStream in) {
    return in.heldBytes() > 0;
  }

  @Override
  public long waitingBytes() {
    long bytes = 0;
    for (InboundStream in : streams.all()) {
      bytes += in.heldBytes();
    }
    return bytes;
  }

  @Override
  public boolean isWaiting(ReplicaId origin) {
    return false;
  }
}
