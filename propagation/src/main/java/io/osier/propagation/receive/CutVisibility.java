package io.osier.propagation.receive;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.tree.EntrySource;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.pull.PeerAnswer;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

/**
 * Makes updates of a {@code causal} keyspace visible: they wait until their origin has closed a cut
 * and everything that the cut depends on is visible or becomes visible with it ({@link
 * CausalDelivery}).
 *
 * <p>When waiting updates take more than their budget, streams are held back: none of their updates
 * are dropped, and no more are taken. Streams that are needed go on: those that have yet to bring
 * updates on which a closed cut depends. If no cut is closed, the stream with the largest open cut
 * goes on, as the nearest to its end. A stream that goes on does so until the waiting updates are
 * within the budget again. Otherwise two streams could take turns for ever: each restart ships one
 * cut that reaches up to the present, so each cut would depend on ever later ones of the other
 * stream.
 *
 * <p>If all streams that have begun a cut stand still, all other streams go on. If the former stay
 * silent, their open cuts are dropped to make room; they are sent again when their sender is heard
 * again.
 *
 * <p>So the budget is exceeded by no more than the updates that must become visible together. No
 * stream waits for ever: if everything that closed cuts depend on were visible or closed here, they
 * would be admitted ({@link CausalDelivery#take}); so some cut depends on more of an origin. The
 * origin's stream goes on if the origin is heard; if not, others repair it, and repairs are never
 * held back.
 *
 * <p>Not thread-safe.
 */
final class CutVisibility implements Visibility {
  /**
   * Pulled states are held again after this time at the latest: half of the time that a hold lasts.
   */
  private static final long HELD_NANOS_MAX =
      TimeUnit.MILLISECONDS.toNanos(EntrySource.HOLD_MILLIS / 2);

  private final ReplicationContext around;
  private final InboundStreams streams;
  private final ReceivedVector knowledge;
  private final UpdateApplier applier;
  private final CausalDelivery admission = new CausalDelivery();

  /** When all pulled states that wait were last held. */
  private long heldNanos;

  /** The streams that go on although what waits takes more than the budget. */
  private final Set<ReplicaId> letIn = new HashSet<>();

  CutVisibility(
      ReplicationContext around,
      InboundStreams streams,
      ReceivedVector knowledge,
      UpdateApplier applier) {
    this.around = around;
    this.streams = streams;
    this.knowledge = knowledge;
    this.applier = applier;
  }

  @Override
  public void updates(
      InboundStream in, Frame.Updates frame, long ackNanos, long nowNanos, long nowMillis) {
    boolean outage = frame.outage() || in.liveness().wasOutage(frame.sentMillis());
    CausalDelivery.Source source = source(in);
    for (Shipment shipment : frame.shipments()) {
      admission.add(source, new CutQueue.Arrived(shipment, outage, frame.sentMillis()));
    }
    in.received(frame, ackNanos);
    if (admission.isNew(source, frame.through())) {
      admission.close(source, frame.through(), frame.deps(), frame.cursor(), nowNanos);
      admit(nowNanos, nowMillis);
      if (around.observer().isOn() && admission.isWaiting(source, frame.through())) {
        VersionVector missing = frame.deps().beyond(knowledge.here());
        around.observer().cutWaits(in.sender(), frame.through(), missing);
      }
    }
    if (admission.isEmpty(source) && frame.cursor().isPresent()) {
      in.admitted(frame.cursor().get());
      streams.placeChanged();
    }
  }

  /** Makes visible, in one step, all cuts whose dependencies are met. */
  private void admit(long nowNanos, long nowMillis) {
    if (admission.hasPulled() && nowNanos - heldNanos > HELD_NANOS_MAX) {
      return; // pulled states must not be read before they are held again
    }
    List<CutQueue.Cut> cuts = admission.take(knowledge.here());
    if (cuts.isEmpty()) {
      return;
    }
    List<Shipment> outOfOrder = new ArrayList<>();
    for (CutQueue.Cut cut : cuts) {
      // A cut that waited that long waited for a datacenter that could not be reached.
      long waitedNanos = nowNanos - cut.closedNanos();
      boolean late = waitedNanos > around.healNanos();
      InboundStream from = streams.of(cut.source().peer().dc());
      for (CutQueue.Arrived update : cut.updates()) {
        Shipment shipment = update.shipment();
        if (applier.isKnown(shipment)) {
          around.observer().known(shipment);
          continue;
        }
        if (cut.source().isStream()) {
          boolean outage = late || update.outage();
          streams.visible(from, shipment, outage, update.sentMillis(), waitedNanos, nowMillis);
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
    for (CutQueue.Cut cut : cuts) {
      cut.origin().ifPresent(origin -> knowledge.complete(origin, cut.through()));
      InboundStream in = streams.of(cut.source().peer().dc());
      if (cut.cursor().isPresent() && in.sender().equals(cut.source().peer())) {
        in.admitted(cut.cursor().get());
      }
    }
    streams.placeChanged();
    around.replica().admitted();
  }

  /** Gathers the states of an origin, which form a cut once the last page is here. */
  @Override
  public void states(
      InboundStream in, PeerAnswer answer, boolean expected, long nowNanos, long nowMillis) {
    Frame.States states = answer.states();
    if (!expected) {
      return;
    }
    CausalDelivery.Source source =
        CausalDelivery.Source.states(in.sender(), states.origin().orElseThrow());
    for (CutQueue.Arrived state : arrived(states.shipments(), nowMillis)) {
      if (answer.pulled().filter(state.shipment().object()::equals).isPresent()) {
        addPulled(source, state, nowNanos);
      } else {
        admission.add(source, state);
      }
    }
    if (states.next().isEmpty()) {
      admission.closeRepaired(source, states.through(), states.deps(), nowNanos);
      admit(nowNanos, nowMillis);
    }
  }

  @Override
  public void verified(InboundStream in, Frame.Verified verified, long nowNanos, long nowMillis) {
    CausalDelivery.Source source = CausalDelivery.Source.states(in.sender(), around.self());
    List<CutQueue.Arrived> states = arrived(verified.shipments(), nowMillis);
    admission.addWhole(source, states, verified.deps(), nowNanos);
    admit(nowNanos, nowMillis);
  }

  private static List<CutQueue.Arrived> arrived(List<Shipment> shipments, long nowMillis) {
    return shipments.stream().map(s -> new CutQueue.Arrived(s, true, nowMillis)).toList();
  }

  /**
   * Keeps a pulled state until its sender closes a cut, which it does once all states that it
   * offered were received.
   */
  @Override
  public void pulled(InboundStream in, Shipment state, long nowNanos, long nowMillis) {
    addPulled(source(in), new CutQueue.Arrived(state, true, nowMillis), nowNanos);
  }

  private void addPulled(CausalDelivery.Source source, CutQueue.Arrived state, long nowNanos) {
    if (!admission.hasPulled()) {
      heldNanos = nowNanos; // the frame just received is held
    }
    admission.addPulled(source, state);
  }

  @Override
  public List<ReplicaId> holdPulled(
      BiConsumer<ReplicaId, ReplicaId> lost, long nowNanos, long nowMillis) {
    if (!admission.hasPulled()) {
      return List.of();
    }
    heldNanos = nowNanos;
    List<ReplicaId> streamsLost = new ArrayList<>();
    for (CausalDelivery.Source source : admission.holdPulled()) {
      if (source.isStream()) {
        streamsLost.add(source.peer());
      } else {
        lost.accept(source.peer(), source.of());
      }
    }
    admit(nowNanos, nowMillis);
    return streamsLost;
  }

  @Override
  public void repaired(Frame.States last) {
    // The last page has closed the cut, which is admitted when all that it depends on is here.
  }

  @Override
  public void givenUp(ReplicaId peer, ReplicaId origin) {
    admission.drop(CausalDelivery.Source.states(peer, origin));
  }

  @Override
  public boolean ended(ReplicaId former) {
    admission.ended(former);
    letIn.remove(former);
    return true;
  }

  @Override
  public void returned(ReplicaId peer) {
    admission.returned(peer);
  }

  @Override
  public Optional<CrdtState> waitingState(InboundStream in, Frame.Offer offer) {
    return admission.pulled(in.sender(), offer.object(), offer.version().context());
  }

  @Override
  public void sweepLeft(Predicate<ReplicaId> lost, long nowNanos, long nowMillis) {
    admission.giveUp(knowledge.here(), lost);
  }

  @Override
  public int waiting() {
    return admission.waiting();
  }

  @Override
  public void weigh(Hearing hearing) {
    if (waitingBytes() - leftBytes() <= around.settings().memory().waiting()) {
      letIn.clear();
      return;
    }
    VersionVector here = knowledge.here();
    InboundStream most = null;
    boolean comesToAnEnd = admission.hasCuts();
    for (InboundStream in : streams.all()) {
      if (admission.isWanted(source(in), here)) {
        letIn.add(in.sender());
      }
      if (isComing(in, hearing) > 0 && hearing.flows(in)) {
        comesToAnEnd |= letIn.contains(in.sender());
        most = most == null || isComing(in, hearing) > isComing(most, hearing) ? in : most;
      }
    }
    if (comesToAnEnd) {
      return;
    }
    if (most != null) {
      letIn.add(most.sender());
    } else {
      passBy(hearing);
    }
  }

  /** Lets other streams go on, since those that have begun a cut stand still. */
  private void passBy(Hearing hearing) {
    boolean anyFlows = false;
    for (InboundStream in : streams.all()) {
      if (hearing.flows(in)) {
        anyFlows = true;
        letIn.add(in.sender());
        in.dropSilentPulls(hearing.silentNanos());
      }
    }
    for (InboundStream in : streams.all()) {
      if (anyFlows
          && (admission.open(source(in)) > 0 || in.pulls().count() > 0)
          && hearing.isGone(in)) {
        admission.drop(source(in));
        in.madeRoom();
      }
    }
  }

  private static CausalDelivery.Source source(InboundStream in) {
    return CausalDelivery.Source.stream(in.sender());
  }

  /**
   * Counts the received parts of a stream that wait for more of it: updates, and large states in
   * parts.
   */
  private int isComing(InboundStream in, Hearing hearing) {
    return admission.open(source(in)) + in.pullsHeardSince(hearing.silentNanos());
  }

  @Override
  public boolean mayHoldBack(InboundStream in) {
    return !letIn.contains(in.sender());
  }

  @Override
  public boolean mayRefuse() {
    return true;
  }

  @Override
  public long waitingBytes() {
    return admission.heapBytes() + streams.pulledBytes();
  }

  @Override
  public long leftBytes() {
    return admission.leftBytes();
  }

  @Override
  public boolean isWaiting(ReplicaId origin) {
    return admission.isWaiting(origin);
  }
}
