package io.osier.propagation;

import io.osier.core.CausalContext;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.memory.Budget;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.ObjectProgress;
import io.osier.propagation.host.PropagationStats;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.host.ReplicationProgress;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.receive.Inbound;
import io.osier.propagation.receive.InboundStream;
import io.osier.propagation.receive.ReceivedVector;
import io.osier.propagation.receive.UpdateApplier;
import io.osier.propagation.repair.RelayLog;
import io.osier.propagation.repair.RepairAnswers;
import io.osier.propagation.repair.Repairer;
import io.osier.propagation.repair.Verifier;
import io.osier.propagation.send.Outbound;
import io.osier.propagation.send.PeerStream;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.List;

/**
 * Runs all streams of one partition: hands commits to {@link Outbound}, received updates to {@link
 * Inbound}, and gaps to {@link Repairer}, and ticks them.
 *
 * <p>Pure: time comes in with each call and frames go out through the sink. Used by one thread.
 */
public final class Propagation {
  /** Leaves room for the requests of one life: a thousand a second for a generation. */
  private static final int REQUESTS_SHIFT = 40;

  private final ReplicationContext around;
  private final ReceivedVector knowledge;
  private final Outbound outbound;
  private final Inbound inbound;
  private final Repairer repairer;
  private final RelayLog relays;
  private final RepairAnswers answers;
  private final Verifier verifier;
  private final LossDetector losses;
  private final Origins origins;
  private final ReplicationStatus standing;
  private final StatusSender announcer;
  private final FrameHandlers handlers;

  /** The number of the last request to a peer; no number is given twice, in any life. */
  private long requests;

  /**
   * @param around what all parts share
   */
  public Propagation(ReplicationContext around, long nowNanos) {
    this.around = around;
    RecoveredState recovered = around.recovered();
    this.requests = recovered.life() << REQUESTS_SHIFT;
    this.knowledge = new ReceivedVector(around.self(), around.peers(), recovered, this::committed);
    this.outbound = new Outbound(around, knowledge::through, nowNanos);
    this.relays = new RelayLog(new Budget("relays", around.settings().memory().relays()));
    UpdateApplier applier =
        new UpdateApplier(knowledge, around.replica(), this::relay, around.observer());
    this.repairer = new Repairer(around, knowledge, applier, this::nextRequest, this::hasStreamed);
    this.inbound =
        new Inbound(around, knowledge, applier, repairer, this::nextRequest, outbound::isLinkUp);
    this.answers = new RepairAnswers(around, knowledge, applier, relays, this::isHolding);
    boolean lostSome = !recovered.resumed() && recovered.life() > 1;
    this.verifier = new Verifier(around, lostSome, this::nextRequest);
    this.losses = new LossDetector(around, knowledge);
    this.origins = new Origins(around, knowledge, outbound, inbound, repairer, losses, nowNanos);
    this.standing =
        new ReplicationStatus(
            around, knowledge, outbound, inbound, repairer, origins, losses, nowNanos);
    this.announcer =
        new StatusSender(around, knowledge, outbound, inbound, this::isAtRest, nowNanos);
    this.handlers =
        new FrameHandlers(
            around, knowledge, outbound, inbound, repairer, answers, verifier, origins, standing);
  }

  /**
   * Changes the keyspace's policy and the settings; they apply from the next round on.
   *
   * @param policy of the same keyspace, with the same consistency, partitions and replicas
   */
  public void configure(KeyspacePolicy policy, StreamSettings settings) {
    around.configure(policy, settings);
    outbound.configured();
    relays.setLimit(settings.memory().relays());
    around.observer().configured(policy);
  }

  /** Keeps an update for a third datacenter, if there is one. */
  private void relay(Shipment update) {
    if (around.peers().size() > 1) {
      relays.applied(update);
    }
  }

  /** Returns the last commit number. */
  public long committed() {
    return outbound.committed();
  }

  /** Whether some update that is committed here was not shipped yet. */
  private boolean isHolding() {
    return outbound.through() < outbound.committed();
  }

  private boolean hasStreamed(ReplicaId origin) {
    return inbound.hasStreamed(origin);
  }

  /** Whether what the store may have lost was compared with all peers. */
  public boolean isVerified() {
    return verifier.isDone();
  }

  private boolean isAtRest() {
    return verifier.isDone() && standing.isAtRest();
  }

  /** Excuses the silence of peers at rest. Called before anything is done that may end the rest. */
  private void rest(long nowNanos) {
    if (isAtRest()) {
      inbound.rest(nowNanos);
    }
  }

  private long nextRequest() {
    return ++requests;
  }

  // ---------------------------------------------------------------- what is committed here

  /**
   * Takes an update that was committed here.
   *
   * @param before the object's context before the update
   * @param number its commit number
   * @param floor the first commit number of its transaction
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
      CrdtState delta,
      int updates,
      boolean hold,
      long sinceNanos,
      long nowNanos) {
    if (announcer.isQuiet()) {
      rest(nowNanos);
    }
    VersionVector needs = around.cuts().needs(() -> knowledge.needs(before));
    Outbound.Update update = new Outbound.Update(before, needs, number, updates, sinceNanos, delta);
    return outbound.commit(object, update, floor, hold, nowNanos);
  }

  /** Returns the part that ships this datacenter's updates. */
  public Outbound outbound() {
    return outbound;
  }

  // ---------------------------------------------------------------- peers come and go

  /** Notes that frames can be sent to the peer from now on. */
  public void peerUp(ReplicaId peer, long nowNanos) {
    PeerStream stream = outbound.stream(peer.dc());
    if (stream == null) {
      return; // the datacenter does not hold this keyspace
    }
    InboundStream in = handlers.meet(peer, nowNanos);
    if (!knowledge.isNewest(peer)) {
      return;
    }
    stream.up(peer, nowNanos);
    if (inbound.up(in, nowNanos)) {
      handlers.resume(in, nowNanos);
    }
    announcer.toNewcomer(nowNanos);
  }

  /** Notes that frames can no longer be sent to the datacenter. */
  public void peerDown(String dc, long nowNanos) {
    PeerStream stream = outbound.stream(dc);
    if (stream != null) {
      stream.down(nowNanos);
      answers.interrupted(dc);
      handlers.answersMayBeLost(dc, nowNanos);
    }
  }

  /**
   * Sets the other datacenters that hold the keyspace. A new one is given everything that is here.
   * A former one is no longer heard nor waited for; those of its updates that are not here come
   * from the others, as far as they have them.
   */
  public void setPeers(List<String> peers, long nowNanos) {
    List<String> before = around.peers();
    for (String gone : before) {
      if (!peers.contains(gone)) {
        peerDown(gone, nowNanos);
        outbound.remove(gone, nowNanos);
        inbound.end(gone, nowNanos);
        answers.ended(gone);
        verifier.remove(gone);
        standing.remove(gone);
      }
    }
    around.setPeers(peers);
    knowledge.setPeers(peers);
    for (String dc : peers) {
      if (!before.contains(dc)) {
        outbound.add(dc, nowNanos);
        verifier.add(dc);
      }
    }
    outbound.lags().everywhere(standing.shipped());
    standing.settle();
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
    rest(nowNanos);
    InboundStream in = handlers.meet(peer, nowNanos);
    if (!in.sender().equals(peer)) {
      return;
    }
    handlers.heard(in, frame, nowNanos, nowMillis);
    if (!(frame instanceof Frame.Status) && !(frame instanceof Frame.Ack)) {
      announcer.asked();
    }
    handlers.handle(in, stream, frame, nowNanos, nowMillis);
    standing.settle();
  }

  // ---------------------------------------------------------------- time

  /** Does everything that is due. */
  public void tick(long nowNanos, long nowMillis) {
    rest(nowNanos);
    outbound.tick(nowNanos, nowMillis);
    answers.answerRepairsWaiting(nowNanos);
    handlers.endRepairs(nowNanos);
    for (InboundStream in : inbound.streams()) {
      handlers.tick(in, nowNanos, nowMillis);
    }
    standing.settle();
    if (announcer.dueNanos() <= nowNanos) {
      losses.look();
      inbound.sweepLeft(origin -> origins.isLost(origin, nowNanos), nowNanos, nowMillis);
      inbound.holdPulled(repairer::lost, nowNanos, nowMillis);
      answers.holdOffered(nowNanos);
      announcer.announce(nowNanos, nowMillis);
      outbound.prune(nowNanos);
      outbound.lags().everywhere(standing.shipped());
    }
  }

  /** Returns when {@link #tick} is due, at the latest. */
  public long nextTickNanos() {
    if (outbound.hasOps() || outbound.isCatchingUp()) {
      return Long.MIN_VALUE;
    }
    long next = Math.min(outbound.rounds().dueNanos(), announcer.dueNanos());
    next = Math.min(next, outbound.offersDueNanos());
    for (InboundStream in : inbound.streams()) {
      String dc = in.sender().dc();
      if (outbound.isLinkUp(dc)) {
        if (verifier.isDue(dc, in.heardNanos()) || repairer.isDue(in.sender(), in.heardNanos())) {
          return Long.MIN_VALUE;
        }
        next = Math.min(next, inbound.nextTickNanos(in));
      }
    }
    return next;
  }

  // ---------------------------------------------------------------- what is known

  /** Returns the progress of this datacenter compared with the others. */
  public ReplicationStatus status() {
    return standing;
  }

  /** Whether everything that a session's vector names is here, or may still come. */
  public Coverage coverage(VersionVector wanted) {
    return origins.coverageForSessions(wanted);
  }

  /** Returns the number up to which every replica's updates are here, this one's included. */
  public VersionVector here() {
    return knowledge.here();
  }

  /**
   * Returns for each replica a number such that no update beyond it is here, complete or not;
   * Long.MAX_VALUE where that is not known.
   */
  public VersionVector far() {
    return knowledge.far();
  }

  /** Returns this partition's progress, which is stored together with the applied updates. */
  public ReplicationProgress progress() {
    return new ReplicationProgress(knowledge.through(), inbound.cursors(), standing.isSettled());
  }

  public List<String> peerNames() {
    return around.peers();
  }

  /** Returns a number that changes whenever {@link #progress} may have changed. */
  public long progressVersion() {
    return knowledge.version() + inbound.placesChanged() + (standing.isSettled() ? 1 : 0);
  }

  /**
   * Returns a number that changes whenever more of another replica is complete here; for waiting
   * sessions.
   */
  public long version() {
    return knowledge.version();
  }

  /** Sends a request for rights to a datacenter. Returns whether it can be reached now. */
  public boolean ask(String dc, Frame.Rights wanted) {
    PeerStream stream = outbound.stream(dc);
    if (stream == null || !stream.linkUp()) {
      return false;
    }
    stream.send(wanted);
    return true;
  }

  public PropagationStats stats() {
    return around.stats();
  }

  /** Returns how many received updates wait for their cut's end or its dependencies. */
  public int waitingUpdates() {
    return inbound.waiting();
  }

  public List<Budget.Usage> memory() {
    return List.of(outbound.memory(), relays.usage(), inbound.memory());
  }

  /**
   * Returns an object's pending updates: held ones, ones that peers lack, and received ones that
   * are not visible.
   */
  public ObjectProgress progress(ObjectId object, long nowNanos) {
    return outbound.lags().progress(object, inbound.waiting(object, nowNanos), nowNanos);
  }
}
