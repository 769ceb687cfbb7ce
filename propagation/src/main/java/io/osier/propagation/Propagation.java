package io.osier.propagation;

import io.osier.core.Budget;
import io.osier.core.CausalContext;
import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.ObjectId;
import io.osier.propagation.Frame.Kind;
import io.osier.propagation.out.Outbound;
import io.osier.propagation.out.PeerStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * All streams of one partition: it ships what is committed here, operations with the batch of
 * inputs that made them and held objects in rounds just before their deadline, takes what the peers
 * ship, and heals what is missing.
 *
 * <p>In a {@code session} keyspace what arrives is applied at once, each object for itself. In a
 * {@code causal} one it waits until its origin has closed a cut and everything that the cut depends
 * on is here ({@link Admission}); a round ships everything that is held, and so closes a cut.
 *
 * <p>A held object is shipped at {@code t_firstUpdate + δ − μ}, μ being the largest of the
 * streaming peers' coordination times (mean + 4 deviations).
 *
 * <p>Pure: time comes in with each call and frames go out through the sink. Used by one thread.
 */
public final class Propagation {
  /**
   * Operations are acknowledged together for so long: an acknowledgement is as large as an update.
   */
  private static final long ACK_DELAY_NANOS = 50_000_000;

  /** Room for the requests of one life: a thousand a second for a generation. */
  private static final int REQUESTS_SHIFT = 40;

  private final ReplicaId self;
  private final StreamSettings settings;
  private final Replica replica;
  private final FrameSink sink;
  private final PropagationStats stats = new PropagationStats();
  private final Recovered recovered;
  private final Knowledge knowledge;
  private final Healer healer;

  /** Null where nobody can be given another's updates. */
  private final RelayLog relays;

  /**
   * By datacenter, the last incarnation that has ended and of whose stream something was applied.
   */
  private final Map<String, ReplicaId> endedStreams = new HashMap<>();

  private final Verifier verifier;
  private final boolean causal;
  private final Admission admission = new Admission();

  private final Applier applier;
  private final Answers answers;
  private final PathSkew skew;

  private final List<String> peers;
  private final Outbound outbound;
  private final Map<String, InboundStream> inbound = new TreeMap<>();
  private final Map<String, Frame.Status> firstStatus = new TreeMap<>();
  private final long slaNanos;
  private final long startNanos;

  /** The number of the last request to a peer: none is given twice, in no life. */
  private long requests;

  /** Counts what may have moved a place in a peer's stream. */
  private long placesChanged;

  /** How many frames came whose acknowledgement had to wait. */
  private long waitingSpent;

  /** See {@link #isSettled}. */
  private boolean settled;

  private long statusNanos;
  private long statusVersion = -1;

  /**
   * The streams of a partition that starts now.
   *
   * @param self this datacenter
   * @param peers the other datacenters that hold the keyspace
   * @param recovered what the store kept
   */
  public Propagation(
      ReplicaId self,
      List<String> peers,
      KeyspacePolicy policy,
      StreamSettings settings,
      Recovered recovered,
      Replica replica,
      ShipmentSizer sizer,
      FrameSink sink,
      long nowNanos) {
    this.self = self;
    this.causal = policy.consistency() == KeyspacePolicy.Consistency.CAUSAL;
    this.settings = settings;
    this.replica = replica;
    this.sink = sink;
    this.recovered = recovered;
    this.peers = List.copyOf(peers);
    Surroundings around =
        new Surroundings(self, peers, policy, settings, recovered, replica, sizer, sink, stats);
    this.knowledge = new Knowledge(self, peers, recovered);
    this.outbound = new Outbound(around, knowledge::through, nowNanos);
    this.relays =
        peers.size() < 2 ? null : new RelayLog(new Budget("relays", settings.memory().relays()));
    this.applier = new Applier(self, outbound, knowledge, relays, replica);
    this.answers =
        new Answers(
            self, causal, settings, outbound, knowledge, applier, relays, replica, sizer, sink);
    // After that an origin counts as out of reach.
    this.skew = new PathSkew(millis(settings.healMillis() + settings.retryMillis()));
    this.requests = recovered.life() << REQUESTS_SHIFT;
    this.healer =
        new Healer(
            knowledge,
            applier,
            sink,
            this::nextRequest,
            millis(settings.retryMillis()),
            millis(settings.healMillis()),
            this::hasStreamed);
    boolean lostSome = !recovered.resumed() && recovered.life() > 1;
    this.verifier = new Verifier(lostSome, peers, settings, replica, sink, this::nextRequest);
    this.settled = recovered.settled() || peers.isEmpty();
    this.slaNanos = policy.sla().toNanos();
    this.startNanos = nowNanos;
    this.statusNanos = nowNanos - millis(settings.statusMillis());
  }

  private static long millis(long millis) {
    return millis * 1_000_000;
  }

  // ---------------------------------------------------------------- what is committed here

  /**
   * Takes an update that was committed here.
   *
   * @param before the object's context before it
   * @param number its commit number
   * @param floor the first number of its transaction
   * @param updates how many updates it is: several may have been joined before they were committed
   * @param hold whether it waits for a round; otherwise it leaves with this batch
   * @param sinceNanos when the first of them was acknowledged, if that was before now
   * @return the update as a shipment of its own
   */
  public Outbound.Committed commit(
      ObjectId object,
      CausalContext before,
      long number,
      long floor,
      Causal delta,
      int updates,
      boolean hold,
      long sinceNanos,
      long nowNanos) {
    // The cut that it will be part of says what it depends on.
    VersionVector needs = causal ? VersionVector.EMPTY : knowledge.needs(before);
    Outbound.Update update = new Outbound.Update(before, needs, number, updates, sinceNanos, delta);
    return outbound.commit(object, update, floor, hold, nowNanos);
  }

  /** Ships what is held of an object with this batch: it goes back to operations. */
  public void release(ObjectId object) {
    outbound.release(object);
  }

  /** Ships everything that waits, whatever its deadline. */
  public void flush(long nowNanos, long nowMillis) {
    outbound.flush(nowNanos, nowMillis);
  }

  /** Sets who hears of flushes. */
  public void onFlush(Outbound.FlushListener listener) {
    outbound.onFlush(listener);
  }

  // ---------------------------------------------------------------- peers come and go

  /** Frames can be sent to the peer from now on. */
  public void peerUp(ReplicaId peer, long nowNanos) {
    PeerStream stream = outbound.stream(peer.dc());
    if (stream == null) {
      return; // does not hold this keyspace
    }
    meet(peer, nowNanos);
    if (!knowledge.isNewest(peer)) {
      return;
    }
    stream.up(peer, nowNanos);
    InboundStream in = inbound.get(peer.dc());
    if (in.isStarted() && !in.isResuming()) {
      in.ackAgain(nowNanos);
    } else {
      resume(in, nowNanos);
    }
    statusNanos = nowNanos - millis(settings.statusMillis());
    statusVersion = -1;
  }

  /** Frames can no longer be sent to the datacenter. */
  public void peerDown(String dc, long nowNanos) {
    PeerStream stream = outbound.stream(dc);
    if (stream != null) {
      stream.down(nowNanos);
      healer.down(dc);
      verifier.down(dc);
      InboundStream in = inbound.get(dc);
      if (in != null) {
        in.fetcher().down();
      }
    }
  }

  private void meet(ReplicaId peer, long nowNanos) {
    ReplicaId known = knowledge.newest(peer.dc());
    if (knowledge.meet(peer) && known != null) {
      admission.ended(known);
    }
    InboundStream in = inbound.get(peer.dc());
    // The knowledge may have heard of the incarnation before it speaks here itself, from a third
    // one.
    if (in == null || in.sender().incarnation() < peer.incarnation()) {
      if (in != null && in.applied() != null) {
        endedStreams.put(peer.dc(), in.sender());
      }
      Frame.Cursor cursor = recovered.cursors().get(peer);
      Fetcher fetcher = new Fetcher(new Asking(this::nextRequest, millis(settings.retryMillis())));
      inbound.put(peer.dc(), new InboundStream(peer, recovered.life(), cursor, fetcher, nowNanos));
      healer.down(peer.dc());
    }
  }

  /** Whether something of an origin's own stream was applied here, in this life or before. */
  private boolean hasStreamed(ReplicaId origin) {
    InboundStream in = inbound.get(origin.dc());
    return (in != null && in.sender().equals(origin) && in.applied() != null)
        || origin.equals(endedStreams.get(origin.dc()))
        || recovered.cursors().containsKey(origin);
  }

  private void resume(InboundStream in, long nowNanos) {
    if (!verifier.ask(in.sender().dc(), in.heardNanos(), nowNanos)) {
      return; // when that is done
    }
    skew.interrupted(in.sender().dc());
    sink.send(in.sender().dc(), in.resume(knowledge.through().get(in.sender()), nowNanos));
  }

  private void resumeAgain(InboundStream in, long nowNanos) {
    long through = knowledge.through().get(in.sender());
    sink.send(in.sender().dc(), in.resumeAgain(through, nowNanos));
  }

  // ---------------------------------------------------------------- what comes from peers

  /**
   * Handles a frame of a peer; frames of unknown datacenters and former incarnations are ignored.
   */
  public void received(ReplicaId peer, Frame frame, long nowNanos, long nowMillis) {
    PeerStream stream = outbound.stream(peer.dc());
    if (stream == null) {
      return;
    }
    meet(peer, nowNanos);
    InboundStream in = inbound.get(peer.dc());
    if (!in.sender().equals(peer)) {
      return;
    }
    in.heard(nowNanos, nowMillis, millis(settings.retryMillis()));
    switch (frame) {
      case Frame.Updates f -> updates(in, f, nowNanos, nowMillis);
      case Frame.Ack f -> outbound.acknowledged(peer, f, nowNanos);
      case Frame.Resume f -> {
        outbound.resume(peer, f, nowNanos, nowMillis);
      }
      case Frame.Status f -> status(in, f, nowNanos);
      case Frame.Heal f -> answers.heal(peer, f);
      case Frame.Rights f -> replica.rightsWanted(peer.dc(), f);
      case Frame.Fetch f -> answers.fetch(peer, f);
      case Frame.Verify f -> answers.verify(peer, f);
      case Frame.Verified f -> verified(in, f, nowNanos, nowMillis);
      case Frame.States f -> states(in, f, nowNanos, nowMillis);
    }
  }

  private void updates(InboundStream in, Frame.Updates frame, long nowNanos, long nowMillis) {
    switch (in.verdict(frame)) {
      case STALE -> {}
      case DUPLICATE -> in.ackAgain(nowNanos);
      case GAP -> {
        // While resuming: the stream has begun, and its first frames were lost.
        if (!in.isResuming() || in.mayAskAgain(nowNanos, millis(settings.retryMillis()))) {
          stats.gapSeen();
          resume(in, nowNanos);
        }
      }
      case NEXT -> {
        waitingSpent += mayAcknowledge(in) ? 0 : 1;
        in.arrived(frame.sentMillis(), nowMillis);
        if (causal) {
          gather(in, frame, nowNanos, nowMillis);
          return;
        }
        boolean outage = frame.outage() || in.wasOutage(frame.sentMillis());
        for (Shipment shipment : frame.shipments()) {
          take(in, shipment, outage, frame.sentMillis(), nowNanos, nowMillis);
        }
        // The time of a round is measured, and a catch-up waits for its window: both at once.
        placesChanged++;
        in.took(frame, frame.kind() == Kind.OPS ? nowNanos + ACK_DELAY_NANOS : nowNanos);
        knowledge.complete(in.sender(), in.complete());
      }
    }
  }

  /** In a causal keyspace: takes what came, and admits the cuts that can be admitted now. */
  private void gather(InboundStream in, Frame.Updates frame, long nowNanos, long nowMillis) {
    boolean outage = frame.outage() || in.wasOutage(frame.sentMillis());
    Admission.Source source = new Admission.Source(in.sender(), in.sender());
    for (Shipment shipment : frame.shipments()) {
      admission.add(source, new Admission.Arrived(shipment, outage, frame.sentMillis()));
    }
    in.received(frame, frame.kind() == Kind.OPS ? nowNanos + ACK_DELAY_NANOS : nowNanos);
    if (admission.isNew(source, frame.through())) {
      admission.close(source, frame.through(), frame.deps(), frame.cursor(), nowNanos);
      admit(nowNanos, nowMillis);
    }
    if (admission.isEmpty(source) && frame.cursor().isPresent()) {
      in.admitted(frame.cursor().get());
      placesChanged++;
    }
  }

  /** Makes visible, in one step, all cuts whose dependencies are met. */
  private void admit(long nowNanos, long nowMillis) {
    List<Admission.Cut> cuts = admission.take(through());
    if (cuts.isEmpty()) {
      return;
    }
    List<Shipment> waiting = new ArrayList<>();
    for (Admission.Cut cut : cuts) {
      // What waited that long waited for something that could not be reached.
      long heldNanos = nowNanos - cut.closedNanos();
      boolean late = heldNanos > millis(settings.healMillis());
      InboundStream from = inbound.get(cut.source().peer().dc());
      for (Admission.Arrived update : cut.updates()) {
        Shipment shipment = update.shipment();
        if (applier.isKnown(shipment)) {
          continue;
        }
        if (cut.source().isStream()) {
          boolean outage = late || update.outage();
          seen(from, shipment, outage, update.sentMillis(), heldNanos, nowMillis);
        } else {
          stats.healed();
        }
        if (applier.isNext(shipment)) {
          applier.apply(shipment);
        } else {
          waiting.add(shipment);
        }
      }
    }
    applier.applyInOrder(waiting);
    for (Admission.Cut cut : cuts) {
      cut.origin().ifPresent(origin -> knowledge.complete(origin, cut.through()));
      InboundStream in = inbound.get(cut.source().peer().dc());
      if (cut.cursor().isPresent() && in.sender().equals(cut.source().peer())) {
        in.admitted(cut.cursor().get());
      }
    }
    placesChanged++;
    replica.admitted();
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
      seen(in, shipment, outage, sentMillis, 0, nowMillis);
      retryHeld(shipment.object(), nowNanos, nowMillis);
    }
  }

  private void seen(
      InboundStream in,
      Shipment shipment,
      boolean outage,
      long sentMillis,
      long heldNanos,
      long nowMillis) {
    stats.applied(shipment.updates());
    if (shipment.updates() > 0) {
      Late.Delay delay =
          new Late.Delay(
              shipment.ageMillis(),
              nowMillis - sentMillis,
              heldNanos / 1_000_000,
              in.shortestWayMillis());
      stats.visible(delay, outage, slaNanos / 1_000_000);
    }
  }

  /** Applies what is held of an object, of several origins, and builds on each other, as one. */
  private void applyMutual(ObjectId object, long nowNanos, long nowMillis) {
    List<List<Shipment>> queues = healer.held(object);
    for (InboundStream in : inbound.values()) {
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
    for (InboundStream in : inbound.values()) {
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
    seen(in, held.shipment(), outage, held.sentMillis(), heldNanos, nowMillis);
    in.dropFirstHeld(held.shipment().object());
    placesChanged++;
    knowledge.complete(in.sender(), in.complete());
  }

  /** Whether what an update waited for is of an origin that was out of reach meanwhile. */
  private boolean waitedForOutage(InboundStream.Held held, long nowNanos) {
    for (int i = 0; i < held.missing().size(); i++) {
      ReplicaId origin = held.missing().replica(i);
      if (!isStreaming(origin, nowNanos)
          || inbound.get(origin.dc()).wasInterruptedAfter(held.sinceNanos())) {
        return true;
      }
    }
    return false;
  }

  private void retryHeld(ObjectId object, long nowNanos, long nowMillis) {
    boolean progress = true;
    while (progress) {
      progress = false;
      for (InboundStream in : inbound.values()) {
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

  private void status(InboundStream in, Frame.Status status, long nowNanos) {
    if (status.through().get(self) > outbound.committed()) {
      throw new OsierException(
          ErrorCode.STORE_DAMAGED,
          in.sender()
              + " has update "
              + status.through().get(self)
              + " of this datacenter, whose store knows only "
              + outbound.committed()
              + ": it lost what it had confirmed. 'osier rebuild' sets it aside and fetches"
              + " everything from the peers");
    }
    knowledge.status(in.sender(), status);
    if (relays != null) {
      relays.prune(knowledge.everywhere());
    }
    firstStatus.putIfAbsent(in.sender().dc(), status);
    var unused = isSettled();
    if (status.wantResume() && in.mayAskAgain(nowNanos, millis(settings.retryMillis()))) {
      if (in.isResuming() && status.epoch() < in.epoch()) {
        resumeAgain(in, nowNanos); // it has not heard of the epoch, or had not when it sent this
      } else {
        in.heardOf(status.epoch());
        resume(in, nowNanos);
      }
    } else if (in.missedTail(status)) {
      stats.gapSeen();
      resume(in, nowNanos);
    } else {
      in.ackAgain(nowNanos); // the last acknowledgement may have been lost
    }
  }

  // ---------------------------------------------------------------- healing

  private void verified(InboundStream in, Frame.Verified verified, long nowNanos, long nowMillis) {
    if (causal) {
      admission.addWhole(
          new Admission.Source(in.sender(), self),
          arrived(verified.shipments(), nowMillis),
          verified.deps(),
          nowNanos);
      admit(nowNanos, nowMillis);
    }
    for (Shipment shipment : causal ? List.<Shipment>of() : verified.shipments()) {
      if (applier.apply(shipment)) {
        stats.healed();
        retryHeld(shipment.object(), nowNanos, nowMillis);
      }
    }
    if (verifier.answered(in.sender().dc(), verified, nowNanos)) {
      resume(in, nowNanos);
    }
  }

  private static List<Admission.Arrived> arrived(List<Shipment> shipments, long nowMillis) {
    return shipments.stream().map(s -> new Admission.Arrived(s, true, nowMillis)).toList();
  }

  /** In a causal keyspace: the states of an origin are a cut when the last page is there. */
  private void gather(InboundStream in, Frame.States states, long nowNanos, long nowMillis) {
    if (states.origin().isEmpty() || !healer.received(in.sender(), states, nowNanos)) {
      return;
    }
    endHealings();
    Admission.Source source = new Admission.Source(in.sender(), states.origin().get());
    arrived(states.shipments(), nowMillis).forEach(a -> admission.add(source, a));
    if (states.next().isEmpty()) {
      admission.closeHealed(source, states.through(), states.deps(), nowNanos);
      admit(nowNanos, nowMillis);
    }
  }

  private void states(InboundStream in, Frame.States states, long nowNanos, long nowMillis) {
    if (causal) {
      gather(in, states, nowNanos, nowMillis);
      return;
    }
    for (Shipment shipment : states.shipments()) {
      if (!applier.isReady(shipment) && !applier.isKnown(shipment)) {
        healer.hold(in.sender(), shipment.origin(), shipment);
        applyMutual(shipment.object(), nowNanos, nowMillis);
      } else if (applier.apply(shipment)) {
        stats.healed();
        stats.applied(shipment.updates());
        retryHeld(shipment.object(), nowNanos, nowMillis);
      }
    }
    if (states.origin().isEmpty()) {
      in.fetcher().answered(states, nowNanos).ifPresent(f -> fetch(in, f));
    } else {
      healer.received(in.sender(), states, nowNanos);
    }
    endHealings();
  }

  private void endHealings() {
    for (Frame.States done : healer.takeDone()) {
      if (!causal) { // there the last page is admitted when what it depends on is here
        knowledge.complete(done.origin().orElseThrow(), done.through());
      }
    }
  }

  /**
   * Whether the origin ships its updates itself: the newest incarnation of a peer that is heard.
   */
  private boolean isReachable(ReplicaId origin, long nowNanos) {
    if (origin.equals(self)) {
      return true;
    }
    if (!knowledge.isNewest(origin) || !peers.contains(origin.dc())) {
      return false;
    }
    long heard = heardNanos(origin.dc());
    PeerStream stream = outbound.stream(origin.dc());
    if (stream.linkUp()) {
      // It has just come back, and will ship what is missing itself.
      heard = Math.max(heard, stream.upSinceNanos());
    }
    return nowNanos - heard < millis(settings.healMillis() + settings.retryMillis());
  }

  /**
   * Whether an origin's updates need not be asked of a peer: it ships them itself, or may come back
   * just as the peer did.
   */
  private boolean comesFrom(ReplicaId origin, PeerStream peer, long nowNanos) {
    boolean justBack = nowNanos - peer.upSinceNanos() < millis(settings.healMillis());
    return isReachable(origin, nowNanos) || (justBack && knowledge.isNewest(origin));
  }

  // ---------------------------------------------------------------- time

  /** Does all that is due. */
  public void tick(long nowNanos, long nowMillis) {
    outbound.tick(nowNanos, nowMillis);
    answers.answerHealsWaiting();
    endHealings();
    for (InboundStream in : inbound.values()) {
      maintain(in, nowNanos);
    }
    if (statusDueNanos() <= nowNanos) {
      sendStatus(nowNanos, nowMillis);
      outbound.prune(nowNanos);
    }
  }

  /**
   * Whether a peer may go on sending: not while some of its updates wait for others' and all that
   * waits takes more than there is. What they wait for still comes: it was made before them, and
   * who ships it has either nothing that waits, or waits for what was made still earlier.
   */
  private boolean mayAcknowledge(InboundStream in) {
    if (waitingBytes() <= settings.memory().waiting()) {
      return true;
    }
    // A cut that is not closed waits for its own rest.
    return causal
        ? !admission.isWaiting(new Admission.Source(in.sender(), in.sender()))
        : in.heldBytes() == 0;
  }

  private long waitingBytes() {
    long bytes = admission.heapBytes();
    for (InboundStream in : inbound.values()) {
      bytes += in.heldBytes();
    }
    return bytes;
  }

  private void maintain(InboundStream in, long nowNanos) {
    String dc = in.sender().dc();
    if (!outbound.stream(dc).linkUp()) {
      return;
    }
    if (verifier.isDue(dc, in.heardNanos())) {
      resume(in, nowNanos);
    }
    if (mayAcknowledge(in) && in.takeAckDue(nowNanos)) {
      sink.send(dc, in.ack());
    }
    long retry = millis(settings.retryMillis());
    if (in.isResuming() && nowNanos >= in.resumeDueNanos(retry)) {
      resumeAgain(in, nowNanos);
    }
    if (in.fetcher().isIdle()) {
      long grace = skew.graceNanos(dc);
      List<ObjectId> missing =
          in.toFetch(nowNanos, grace, retry, shipment -> comesLater(shipment, nowNanos));
      if (missing.isEmpty()) {
        missing = healer.toFetch(in.sender(), nowNanos);
      }
      if (!missing.isEmpty()) {
        missing.forEach(object -> stats.gapSeen());
        fetch(in, in.fetcher().fetch(missing, nowNanos));
      }
    } else if (in.fetcher().isDue(in.heardNanos())) {
      fetch(in, in.fetcher().again(nowNanos));
    }
    if (verifier.isDone(dc)) {
      PeerStream stream = outbound.stream(dc);
      healer.check(
          in.sender(), in.heardNanos(), origin -> comesFrom(origin, stream, nowNanos), nowNanos);
    }
  }

  private void fetch(InboundStream in, Frame.Fetch fetch) {
    sink.send(in.sender().dc(), fetch);
  }

  private long heardNanos(String dc) {
    InboundStream in = inbound.get(dc);
    return in == null ? startNanos : in.heardNanos();
  }

  private long nextRequest() {
    return ++requests;
  }

  /**
   * Whether an update waits for one of an origin whose stream stands still, or has just come back:
   * what that origin did meanwhile will come from itself or through a third datacenter, and once.
   */
  private boolean comesLater(Shipment shipment, long nowNanos) {
    CausalContext here = applier.context(shipment.object());
    VersionVector needs = shipment.needs();
    for (int i = 0; i < needs.size(); i++) {
      ReplicaId r = needs.replica(i);
      if (applier.seen(here, r) < needs.number(i) && !isStreaming(r, nowNanos)) {
        return true;
      }
    }
    return false;
  }

  private boolean isStreaming(ReplicaId origin, long nowNanos) {
    PeerStream stream = outbound.stream(origin.dc());
    InboundStream in = inbound.get(origin.dc());
    return stream != null
        && stream.linkUp()
        && in != null
        && in.sender().equals(origin)
        && !in.isResuming()
        && nowNanos - in.resumeSentNanos() >= millis(settings.retryMillis())
        && nowNanos - in.heardNanos() < millis(settings.retryMillis());
  }

  private void sendStatus(long nowNanos, long nowMillis) {
    VersionVector through = knowledge.through().raised(self, outbound.through());
    VersionVector changes = knowledge.changes();
    for (PeerStream stream : outbound.streams()) {
      if (stream.linkUp()) {
        sink.send(
            stream.dc(),
            new Frame.Status(
                stream.wantsResume(),
                stream.epoch(),
                stream.wantsResume() ? 0 : stream.sequence(),
                through,
                knowledge.life(),
                changes,
                outbound.committed(),
                admission.waiting() > 0,
                nowMillis));
      }
    }
    statusNanos = nowNanos;
    statusVersion = statusKey();
  }

  private long statusKey() {
    return knowledge.version() + outbound.through();
  }

  private long statusDueNanos() {
    boolean soon = statusKey() != statusVersion;
    for (PeerStream stream : outbound.streams()) {
      soon |= stream.wantsResume();
    }
    return statusNanos + millis(soon ? settings.statusMillis() : settings.retryMillis() / 2);
  }

  /** μ: the time set aside for the acknowledgement of a round, in nanoseconds. */
  public long coordinationNanos() {
    return outbound.coordinationNanos();
  }

  /**
   * How long a held object may wait, in nanoseconds: δ − μ, less the reserve; 0 if that is nothing.
   */
  public long holdNanos() {
    return outbound.holdNanos();
  }

  /** When {@link #tick} is due, at the latest. */
  public long nextTickNanos() {
    if (outbound.hasOps()) {
      return Long.MIN_VALUE;
    }
    long next = Math.min(outbound.roundDueNanos(), statusDueNanos());
    for (InboundStream in : inbound.values()) {
      if (outbound.stream(in.sender().dc()).linkUp()) {
        if (mayAcknowledge(in)) {
          next = Math.min(next, in.ackDueNanos());
        }
        if (verifier.isDue(in.sender().dc(), in.heardNanos())
            || healer.isDue(in.sender(), in.heardNanos())) {
          return Long.MIN_VALUE;
        }
        long retry = millis(settings.retryMillis());
        next = Math.min(next, in.nextFetchNanos(skew.graceNanos(in.sender().dc()), retry));
        if (in.isResuming()) {
          next = Math.min(next, in.resumeDueNanos(retry));
        }
      }
    }
    return next;
  }

  // ---------------------------------------------------------------- what is known

  /** Whether a session's demands are met here. */
  public enum Coverage {
    /** Everything that was asked for is here. */
    HERE,
    /** Something has not come yet. */
    NOT_YET,
    /** Something was lost with the memory of a former incarnation: nobody has it. */
    LOST
  }

  /** Whether everything that the vector names is here. */
  public Coverage coverage(VersionVector wanted) {
    Coverage worst = Coverage.HERE;
    for (int i = 0; i < wanted.size(); i++) {
      ReplicaId r = wanted.replica(i);
      long number = wanted.number(i);
      long here = r.equals(self) ? outbound.committed() : knowledge.through().get(r);
      if (number > here) {
        if (knowledge.isNewest(r) || !allHealed(r)) {
          return Coverage.NOT_YET;
        }
        // More of it may be here, but it cannot be told: what was never claimed complete may have
        // gaps.
        worst = Coverage.LOST;
      }
    }
    return worst;
  }

  /** Whether every peer is there and gave all that it has of a former incarnation. */
  private boolean allHealed(ReplicaId former) {
    for (PeerStream stream : outbound.streams()) {
      if (!stream.linkUp()
          || !healer.isDone(stream.peer(), former)
          || admission.isWaiting(former)) {
        return false;
      }
    }
    return true;
  }

  /** What has come of every replica, this one included. */
  public VersionVector through() {
    return knowledge.through().raised(self, outbound.committed());
  }

  /** How far this partition has come, to be stored with what was applied. */
  public Progress progress() {
    Map<ReplicaId, Frame.Cursor> cursors = new HashMap<>(recovered.cursors());
    cursors.keySet().removeIf(r -> !knowledge.isNewest(r));
    for (InboundStream in : inbound.values()) {
      if (in.applied() != null) {
        cursors.put(in.sender(), in.applied());
      }
    }
    return new Progress(knowledge.through(), cursors, settled);
  }

  /** Whether every datacenter, this one included, has all that a context covers. */
  public boolean isEverywhere(CausalContext context) {
    for (int i = 0; i < context.size(); i++) {
      ReplicaId r = context.replica(i);
      long last = context.last(r);
      if ((r.equals(self) ? outbound.committed() : knowledge.through().get(r)) < last) {
        return false;
      }
      for (String dc : peers) {
        Frame.Status status = knowledge.status(dc);
        if (status == null || status.through().get(r) < last) {
          return false;
        }
      }
    }
    return true;
  }

  /** What each other datacenter had committed, shipped or not, when it was last heard. */
  public VersionVector committedElsewhere() {
    VersionVector committed = VersionVector.EMPTY;
    for (String dc : peers) {
      Frame.Status status = knowledge.status(dc);
      if (status != null) {
        committed = committed.with(knowledge.newest(dc), status.committed());
      }
    }
    return committed;
  }

  /** Whether all replicas of a vector still run: none has been replaced by a newer incarnation. */
  public boolean areCurrent(VersionVector vector) {
    for (int i = 0; i < vector.size(); i++) {
      if (!knowledge.isNewest(vector.replica(i))) {
        return false;
      }
    }
    return true;
  }

  /** Every other datacenter has all of this one's updates up to this commit number. */
  public long shipped() {
    long shipped = outbound.committed();
    for (String dc : peers) {
      Frame.Status status = knowledge.status(dc);
      shipped = Math.min(shipped, status == null ? 0 : status.through().get(self));
    }
    return shipped;
  }

  /** Changes when {@link #progress} may have. */
  public long progressVersion() {
    return knowledge.version() + placesChanged;
  }

  /** Changes whenever more of any other replica has come completely; for waiting sessions. */
  public long version() {
    return knowledge.version();
  }

  /**
   * Whether this partition has what each peer had when it was first heard.
   *
   * @param graceNanos how long after the start to wait for a peer that is not heard
   */
  public boolean isCaughtUp(long nowNanos, long graceNanos) {
    for (PeerStream stream : outbound.streams()) {
      Frame.Status status = firstStatus.get(stream.dc());
      if (status == null) {
        if (nowNanos - startNanos < graceNanos) {
          return false;
        }
      } else if (stream.linkUp() && coverage(status.through()) == Coverage.NOT_YET) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether this incarnation has once had everything that any peer had of its datacenter's former
   * incarnations, so that it knows what they had done as well as anybody ever will. Until then
   * every peer must be there.
   */
  public boolean isSettled() {
    if (!settled) {
      settled = settlesNow();
      placesChanged += settled ? 1 : 0;
    }
    return settled;
  }

  private boolean settlesNow() {
    for (PeerStream stream : outbound.streams()) {
      Frame.Status status = knowledge.status(stream.dc());
      if (!stream.linkUp() || status == null || status.waiting()) {
        return false;
      }
      if (coverage(status.through()) != Coverage.HERE) {
        return false;
      }
      for (int i = 0; i < status.changes().size(); i++) {
        ReplicaId former = status.changes().replica(i);
        boolean ours = former.dc().equals(self.dc()) && !former.equals(self);
        if (ours && (!healer.isDone(stream.peer(), former) || admission.isWaiting(former))) {
          return false;
        }
      }
    }
    return true;
  }

  /** Sends a frame to a datacenter if it can be reached now. */
  public boolean ask(String dc, Frame.Rights wanted) {
    PeerStream stream = outbound.stream(dc);
    if (stream == null || !stream.linkUp()) {
      return false;
    }
    sink.send(dc, wanted);
    return true;
  }

  /** Whether every connected peer has acknowledged everything that was committed. */
  public boolean isDrained() {
    return outbound.isDrained();
  }

  /** The counts. */
  public PropagationStats stats() {
    return stats;
  }

  /** How many updates have come and wait for the rest of their cut, or for what it depends on. */
  public int waitingUpdates() {
    return admission.waiting();
  }

  /** What is used of the budgets. */
  public List<Budget.Usage> memory() {
    List<Budget.Usage> usages = new ArrayList<>();
    usages.add(outbound.memory());
    if (relays != null) {
      usages.add(relays.usage());
    }
    usages.add(
        new Budget.Usage("waiting", settings.memory().waiting(), waitingBytes(), waitingSpent));
    return usages;
  }

  /** How many objects are held for a round. */
  public int dirtyObjects() {
    return outbound.dirtyObjects();
  }

  /** What the streams to and from the peers are doing. */
  public List<PeerProgress> peers() {
    List<PeerProgress> progress = new ArrayList<>();
    for (PeerStream stream : outbound.streams()) {
      ReplicaId peer = knowledge.newest(stream.dc());
      Frame.Status status = knowledge.status(stream.dc());
      long has = status == null ? 0 : status.through().get(self);
      long there = status == null || peer == null ? 0 : status.through().get(peer);
      long here = peer == null ? 0 : knowledge.through().get(peer);
      progress.add(
          new PeerProgress(
              stream.dc(),
              peer == null ? 0 : peer.incarnation(),
              stream.linkUp(),
              stream.mode().label(),
              Math.max(0, outbound.committed() - has),
              stream.inFlightBytes(),
              Math.max(0, there - here)));
    }
    return progress;
  }

  /**
   * A peer's progress.
   *
   * @param dc its name
   * @param incarnation 0 if it was never heard
   * @param connected whether frames can be sent to it
   * @param stream waiting, catching-up or streaming
   * @param lagUpdates updates of this datacenter that it does not have, as far as its status tells
   * @param inFlightBytes sent and not acknowledged
   * @param behindUpdates updates of it that have not come here
   */
  public record PeerProgress(
      String dc,
      long incarnation,
      boolean connected,
      String stream,
      long lagUpdates,
      long inFlightBytes,
      long behindUpdates) {}
}
