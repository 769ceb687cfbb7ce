package io.osier.propagation;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.propagation.host.PeersHeard;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.receive.Inbound;
import io.osier.propagation.receive.ReceivedVector;
import io.osier.propagation.repair.Repairer;
import io.osier.propagation.send.Outbound;
import io.osier.propagation.send.PeerStream;
import io.osier.propagation.wire.Frame;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Compares this datacenter's progress with the others', as far as their statuses say. Only answers
 * questions; not thread-safe.
 */
public final class ReplicationStatus {
  private final ReplicationContext around;
  private final ReceivedVector knowledge;
  private final Outbound outbound;
  private final Inbound inbound;
  private final Repairer repairer;
  private final Origins origins;
  private final LossDetector losses;
  private final Map<String, Frame.Status> firstStatus = new TreeMap<>();

  /** The time from which {@link #isCaughtUp} waits for peers that were not heard. */
  private long awaitedNanos;

  /** What each peer had when it was first heard since {@link #compareAnew}. */
  private final Map<String, VersionVector> compared = new TreeMap<>();

  /** See {@link #isSettled}. */
  private boolean settled;

  /** See {@link #isComplete}. */
  private boolean complete;

  ReplicationStatus(
      ReplicationContext around,
      ReceivedVector knowledge,
      Outbound outbound,
      Inbound inbound,
      Repairer repairer,
      Origins origins,
      LossDetector losses,
      long nowNanos) {
    this.around = around;
    this.knowledge = knowledge;
    this.outbound = outbound;
    this.inbound = inbound;
    this.repairer = repairer;
    this.origins = origins;
    this.losses = losses;
    this.awaitedNanos = nowNanos;
    this.settled = around.recovered().settled() || around.peers().isEmpty();
  }

  /**
   * Takes a peer's status.
   *
   * @param delayNanos how much longer the status travelled than usual
   */
  void heard(String dc, Frame.Status status, long delayNanos, long nowNanos) {
    losses.heard(dc, delayNanos, nowNanos);
    firstStatus.putIfAbsent(dc, status);
    ReplicaId peer = knowledge.newest(dc);
    VersionVector has =
        peer == null ? status.through() : status.through().raised(peer, status.committed());
    compared.putIfAbsent(dc, has);
    settle();
  }

  /** Forgets a datacenter that is no peer any more. */
  void remove(String dc) {
    firstStatus.remove(dc);
    compared.remove(dc);
    losses.remove(dc);
  }

  /** Waits from now on, as if from the start, for the peers that were not heard yet. */
  public void await(long nowNanos) {
    awaitedNanos = nowNanos;
  }

  /**
   * Notes whether this datacenter joins. A datacenter that joins may have counted as settled before
   * it knew all peers: it settles again once it has heard those that it has now.
   */
  public void setJoins(boolean joins) {
    origins.setJoins(joins);
    if (joins) {
      settled = false;
      settle();
    }
  }

  /** Has {@link #isComplete} compare with what the peers have from now on. */
  public void compareAnew() {
    compared.clear();
    complete = false;
  }

  /** Whether there may be other datacenters than the peers that this one was told of. */
  public boolean mayLackPeers() {
    return origins.mayLackPeers();
  }

  /**
   * Returns for how many of the others everything is here that they had committed when they were
   * first heard since {@link #compareAnew}, or since the start. It changes with a peer's frame, and
   * with the peers.
   */
  public PeersHeard heard() {
    int heard = 0;
    for (String dc : around.peers()) {
      VersionVector has = compared.get(dc);
      heard += has != null && origins.coverage(has) != Coverage.NOT_YET ? 1 : 0;
    }
    if (heard == around.peers().size()) {
      return PeersHeard.ALL;
    }
    return heard > 0 ? PeersHeard.SOME : PeersHeard.NOBODY;
  }

  /**
   * Returns how many updates that were committed here since the start no other datacenter is known
   * to have; 0 if there is no other.
   */
  public long unseen() {
    if (around.peers().isEmpty()) {
      return 0;
    }
    long seen = around.recovered().committed();
    for (String dc : around.peers()) {
      Frame.Status status = knowledge.status(dc);
      seen = status == null ? seen : Math.max(seen, status.through().get(around.self()));
    }
    return Math.max(0, outbound.committed() - seen);
  }

  /**
   * Whether each peer was heard since {@link #compareAnew}, or since the start, and everything that
   * it had committed then is here.
   */
  public boolean isComplete() {
    complete = complete || hasWhatAllHad();
    return complete;
  }

  private boolean hasWhatAllHad() {
    for (String dc : around.peers()) {
      VersionVector has = compared.get(dc);
      PeerStream stream = outbound.stream(dc);
      boolean isHere = has != null && origins.coverage(has) != Coverage.NOT_YET;
      if (!isHere || stream == null || !origins.hasOthersFrom(stream)) {
        return false;
      }
    }
    return true;
  }

  /** Settles if the conditions hold now; once settled, it stays so. */
  void settle() {
    settled = settled || settlesNow();
  }

  /**
   * Returns up to which number every datacenter, this one included, is known to have a replica's
   * updates.
   */
  public long everywhere(ReplicaId replica) {
    long least = knowledge.here(replica);
    for (String dc : around.peers()) {
      Frame.Status status = knowledge.status(dc);
      least = status == null ? 0 : Math.min(least, status.through().get(replica));
    }
    return least;
  }

  /** Returns what each other datacenter had committed, shipped or not, when it was last heard. */
  public VersionVector committedElsewhere() {
    VersionVector committed = VersionVector.EMPTY;
    for (String dc : around.peers()) {
      ReplicaId peer = knowledge.newest(dc);
      Frame.Status status = knowledge.status(dc);
      if (peer != null && status != null) {
        committed = committed.with(peer, status.committed());
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

  /** Returns up to which commit number every other datacenter has all of this one's updates. */
  public long shipped() {
    long shipped = outbound.committed();
    for (String dc : around.peers()) {
      Frame.Status status = knowledge.status(dc);
      shipped = Math.min(shipped, status == null ? 0 : status.through().get(around.self()));
    }
    return shipped;
  }

  /**
   * Returns the other datacenters that have all of this one's updates up to a commit number, and
   * all that a vector names; none while this datacenter lacks some of that.
   */
  public Set<String> having(long number, VersionVector seen) {
    Set<String> having = new TreeSet<>();
    if (!seen.isAtMost(knowledge.through().raised(around.self(), outbound.committed()))) {
      return having;
    }
    for (String dc : around.peers()) {
      Frame.Status status = knowledge.status(dc);
      if (status != null
          && status.through().get(around.self()) >= number
          && seen.isAtMost(status.through())) {
        having.add(dc);
      }
    }
    return having;
  }

  /**
   * Whether nothing is in flight between this datacenter and any other: all are connected, have the
   * same updates as this one, and wait for nothing.
   */
  boolean isAtRest() {
    if (outbound.through() != outbound.committed()
        || !outbound.isDrained()
        || inbound.waiting() > 0
        || !repairer.isIdle()) {
      return false;
    }
    VersionVector here = knowledge.through().raised(around.self(), outbound.through());
    for (PeerStream stream : outbound.streams()) {
      if (!isAtRest(stream, here)) {
        return false;
      }
    }
    return true;
  }

  private boolean isAtRest(PeerStream stream, VersionVector here) {
    Frame.Status status = knowledge.status(stream.dc());
    ReplicaId peer = stream.peer();
    return stream.linkUp()
        && status != null
        && peer != null
        && knowledge.isNewest(peer)
        && !status.wantResume()
        && !status.waiting()
        && status.committed() == here.get(peer)
        && status.through().equals(here)
        && inbound.isAtRest(stream.dc())
        && origins.hasOthersFrom(stream);
  }

  /**
   * Whether this partition has what each peer had when it was first heard.
   *
   * @param graceNanos how long after the start, or after its link came up, to wait for a peer that
   *     is not heard, and how long to wait for one that cannot be asked at present: a peer may be
   *     heard before it is dialled, and the other way round
   */
  public boolean isCaughtUp(long nowNanos, long graceNanos) {
    for (PeerStream stream : outbound.streams()) {
      Frame.Status status = firstStatus.get(stream.dc());
      if (status == null) {
        // The peer has accepted the connection, which may have taken it long: so it runs, and will
        // send a status.
        long since = stream.linkUp() ? Math.max(awaitedNanos, stream.upSinceNanos()) : awaitedNanos;
        if (nowNanos - since < graceNanos) {
          return false;
        }
      } else if (origins.coverage(status.through()) == Coverage.NOT_YET
          && (stream.linkUp() || nowNanos - stream.downSinceNanos() < graceNanos)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether this incarnation has once had everything that any peer had of its datacenter's former
   * incarnations, so that it knows their updates as well as anybody ever will. Until then it needs
   * every peer to be connected.
   */
  public boolean isSettled() {
    return settled;
  }

  private boolean settlesNow() {
    for (PeerStream stream : outbound.streams()) {
      Frame.Status status = knowledge.status(stream.dc());
      if (!stream.linkUp() || status == null || status.waiting()) {
        return false;
      }
      if (origins.coverage(status.through()) != Coverage.HERE) {
        return false;
      }
      for (int i = 0; i < status.changes().size(); i++) {
        ReplicaId former = status.changes().replica(i);
        boolean ours = former.dc().equals(around.self().dc()) && !former.equals(around.self());
        if (ours && !origins.isFetched(stream, former)) {
          return false;
        }
      }
    }
    return true;
  }

  /** Returns the progress of the streams to and from the peers. */
  public List<PeerProgress> peers(long nowNanos) {
    List<PeerProgress> progress = new ArrayList<>();
    for (PeerStream stream : outbound.streams()) {
      ReplicaId peer = knowledge.newest(stream.dc());
      Frame.Status status = knowledge.status(stream.dc());
      VersionVector has = status == null ? VersionVector.EMPTY : status.through();
      long there = peer == null ? 0 : has.get(peer);
      long here = peer == null ? 0 : knowledge.through().get(peer);
      progress.add(
          new PeerProgress(
              stream.dc(),
              peer == null ? 0 : peer.incarnation(),
              stream.linkUp(),
              stream.mode().label(),
              outbound.lags().lag(has.get(around.self()), nowNanos),
              outbound.lags().timeliness(stream, nowNanos),
              stream.window().bytes(),
              stream.window().sentBytes(),
              stream.window().roundTimes(),
              has,
              Math.max(0, there - here),
              nowNanos - origins.aliveNanos(stream.dc()),
              origins.aheadMillis(stream.dc())));
    }
    return progress;
  }
}
