package io.osier.propagation.in;

import io.osier.core.ReplicaId;
import io.osier.propagation.Frame;
import io.osier.propagation.Shipment;
import io.osier.propagation.Surroundings;
import java.util.ArrayList;
import java.util.List;

/**
 * In a {@code causal} keyspace: what comes waits until its origin has closed a cut and everything
 * that the cut depends on is visible, or becomes so with it ({@link Admission}). Not thread-safe.
 */
final class PerCut implements Visibility {
  private final Surroundings around;
  private final Streams streams;
  private final Knowledge knowledge;
  private final Applier applier;
  private final Admission admission = new Admission();

  PerCut(Surroundings around, Streams streams, Knowledge knowledge, Applier applier) {
    this.around = around;
    this.streams = streams;
    this.knowledge = knowledge;
    this.applier = applier;
  }

  @Override
  public void updates(
      InboundStream in, Frame.Updates frame, long ackNanos, long nowNanos, long nowMillis) {
    boolean outage = frame.outage() || in.wasOutage(frame.sentMillis());
    Admission.Source source = new Admission.Source(in.sender(), in.sender());
    for (Shipment shipment : frame.shipments()) {
      admission.add(source, new Admission.Arrived(shipment, outage, frame.sentMillis()));
    }
    in.received(frame, ackNanos);
    if (admission.isNew(source, frame.through())) {
      admission.close(source, frame.through(), frame.deps(), frame.cursor(), nowNanos);
      admit(nowNanos, nowMillis);
    }
    if (admission.isEmpty(source) && frame.cursor().isPresent()) {
      in.admitted(frame.cursor().get());
      streams.placeChanged();
    }
  }

  /** Makes visible, in one step, all cuts whose dependencies are met. */
  private void admit(long nowNanos, long nowMillis) {
    List<Admission.Cut> cuts = admission.take(knowledge.all());
    if (cuts.isEmpty()) {
      return;
    }
    List<Shipment> outOfOrder = new ArrayList<>();
    for (Admission.Cut cut : cuts) {
      // What waited that long waited for something that could not be reached.
      long heldNanos = nowNanos - cut.closedNanos();
      boolean late = heldNanos > around.healNanos();
      InboundStream from = streams.get(cut.source().peer().dc());
      for (Admission.Arrived update : cut.updates()) {
        Shipment shipment = update.shipment();
        if (applier.isKnown(shipment)) {
          continue;
        }
        if (cut.source().isStream()) {
          boolean outage = late || update.outage();
          streams.visible(from, shipment, outage, update.sentMillis(), heldNanos, nowMillis);
        } else {
          around.stats().healed();
        }
        if (applier.isNext(shipment)) {
          applier.apply(shipment);
        } else {
          outOfOrder.add(shipment);
        }
      }
    }
    applier.applyInOrder(outOfOrder);
    for (Admission.Cut cut : cuts) {
      cut.origin().ifPresent(origin -> knowledge.complete(origin, cut.through()));
      InboundStream in = streams.get(cut.source().peer().dc());
      if (cut.cursor().isPresent() && in.sender().equals(cut.source().peer())) {
        in.admitted(cut.cursor().get());
      }
    }
    streams.placeChanged();
    around.replica().admitted();
  }

  /** The states of an origin are a cut when the last page is there. */
  @Override
  public void states(
      InboundStream in, Frame.States states, boolean expected, long nowNanos, long nowMillis) {
    if (!expected) {
      return;
    }
    Admission.Source source = new Admission.Source(in.sender(), states.origin().orElseThrow());
    arrived(states.shipments(), nowMillis).forEach(a -> admission.add(source, a));
    if (states.next().isEmpty()) {
      admission.closeHealed(source, states.through(), states.deps(), nowNanos);
      admit(nowNanos, nowMillis);
    }
  }

  @Override
  public void verified(InboundStream in, Frame.Verified verified, long nowNanos, long nowMillis) {
    Admission.Source source = new Admission.Source(in.sender(), around.self());
    List<Admission.Arrived> states = arrived(verified.shipments(), nowMillis);
    admission.addWhole(source, states, verified.deps(), nowNanos);
    admit(nowNanos, nowMillis);
  }

  private static List<Admission.Arrived> arrived(List<Shipment> shipments, long nowMillis) {
    return shipments.stream().map(s -> new Admission.Arrived(s, true, nowMillis)).toList();
  }

  @Override
  public void healed(Frame.States last) {
    // The last page is admitted when what it depends on is here.
  }

  @Override
  public void ended(ReplicaId former) {
    admission.ended(former);
  }

  @Override
  public int waiting() {
    return admission.waiting();
  }

  /** What waits may depend on what its sender has still to send: a cut is as late as its end. */
  @Override
  public boolean mayHoldBack(InboundStream in) {
    return false;
  }

  @Override
  public long waitingBytes() {
    return admission.heapBytes();
  }

  @Override
  public boolean isWaiting(ReplicaId origin) {
    return admission.isWaiting(origin);
  }
}
