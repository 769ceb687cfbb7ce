package io.osier.propagation;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.propagation.Propagation.Coverage;
import io.osier.propagation.Propagation.PeerProgress;
import io.osier.propagation.host.PeersHeard;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.receive.Inbound;
import io.osier.propagation.receive.InboundStream;
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
 * How far this datacenter has come compared with the others, as far as they tell. Answers only; not
 * thread-safe.
 */
final class ReplicationStatus {
  private final ReplicationContext around;
  private final ReceivedVector knowledge;
  private final Outbound outbound;
  private final Inbound inbound;
  private final Repairer healer;
  private final long startNanos;
  private final LossDetector losses;
  private final Map<String, Frame.Status> firstStatus = new TreeMap<>();

  /** From when on {@link #isCaughtUp} waits for those that were not heard. */
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
      Repairer healer,
      long nowNanos) {
    this.around = around;
    this.knowledge = knowledge;
    this.outbound = outbound;
    this.inbound = inbound;
    this.healer = healer;
    this.startNanos = nowNanos;
    this.awaitedNanos = nowNanos;
    this.losses = new LossDetector(around, knowledge);
    this.settled = around.recovered().settled() || around.peers().isEmpty();
  }

  /**
   * A peer tells what it has.
   *
   * @param delayNanos how much longer that was under way than usual
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

  /** Nothing is heard of a datacenter any more. */
  void remove(String dc) {
    firstStatus.remove(dc);
    compared.remove(dc);
    losses.remove(dc);
  }

  /** See {@link Propagation#await}. */
  void await(long nowNanos) {
    awaitedNanos = nowNanos;
  }

  /** It may not know yet with whom to compare itself. */
  void unsettle() {
    settled = false;
  }

  /** See {@link Propagation#compareAnew}. */
  void compareAnew() {
    compared.clear();
    complete = false;
  }

  /** See {@link Propagation#heard}. */
  PeersHeard heard() {
    int heard = 0;
    for (String dc : around.peers()) {
      VersionVector has = compared.get(dc);
      heard += has != null && coverage(has) != Coverage.NOT_YET ? 1 : 0;
    }
    if (heard == around.peers().size()) {
      return PeersHeard.ALL;
    }
    return heard > 0 ? PeersHeard.SOME : PeersHeard.NOBODY;
  }

  /** See {@link Propagation#unseen}. */
  long unseen() {
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

  /** See {@link Propagation#isComplete}. */
  boolean isComplete() {
    complete = complete || hasWhatAllHad();
    return complete;
  }

  private boolean hasWhatAllHad() {
    for (String dc : around.peers()) {
      VersionVector has = compared.get(dc);
      PeerStream stream = outbound.stream(dc);
      boolean isHere = has != null && coverage(has) != Coverage.NOT_YET;
      if (!isHere || stream == null || !hasOthersFrom(stream)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether all that a peer has of those that ship nothing themselves any more is here. What it has
   * beyond a gap its status does not claim.
   */
  private boolean hasOthersFrom(PeerStream stream) {
    Frame.Status status = knowledge.status(stream.dc());
    if (status == null) {
      return false;
    }
    for (int i = 0; i < status.changes().size(); i++) {
      ReplicaId origin = status.changes().replica(i);
      if (!mayShip(origin) && !isFetched(stream, origin)) {
        return false;
      }
    }
    return true;
  }

  /** Looks whether it is settled now: once it was, it stays so. */
  void settle() {
    settled = settled || settlesNow();
  }

  /**
   * Whether the origin ships its updates itself: the newest incarnation of a peer that is heard.
   */
  private boolean isReachable(ReplicaId origin, long nowNanos) {
    if (origin.equals(around.self())) {
      return true;
    }
    PeerStream stream = outbound.stream(origin.dc());
    if (!knowledge.isNewest(origin) || stream == null) {
      return false;
    }
    long heard = aliveNanos(origin.dc());
    if (stream.linkUp()) {
      // It has just come back, and will ship what is missing itself.
      heard = Math.max(heard, stream.upSinceNanos());
    } else {
      // It may be heard, and waits for acknowledgements that cannot reach it.
      heard = Math.min(heard, stream.downSinceNanos());
    }
    return nowNanos - heard < around.healNanos() + around.retryNanos();
  }

  /** When a datacenter was heard last, or had nothing to say; the start if it never was. */
  private long aliveNanos(String dc) {
    InboundStream in = inbound.stream(dc);
    return in == null ? startNanos : in.liveness().aliveNanos();
  }

  /**
   * Whether an origin's updates need not be asked of a peer: it ships them itself, or may come back
   * just as the peer did.
   */
  boolean comesFrom(ReplicaId origin, PeerStream peer, long nowNanos) {
    boolean justBack = nowNanos - peer.upSinceNanos() < around.healNanos();
    return isReachable(origin, nowNanos) || (justBack && knowledge.isNewest(origin));
  }

  /** See {@link Propagation#coverage}. */
  Coverage coverage(VersionVector wanted) {
    Coverage worst = Coverage.HERE;
    for (int i = 0; i < wanted.size(); i++) {
      ReplicaId r = wanted.replica(i);
      if (wanted.number(i) > knowledge.here(r)) {
        if (mayShip(r) || !allHealed(r)) {
          return Coverage.NOT_YET;
        }
        // More of it may be here, but it cannot be told: what was never claimed complete may have
        // gaps.
        worst = Coverage.LOST;
      }
    }
    return worst;
  }

  /** Whether something is not here of datacenters that are no peers. */
  boolean lacksOfStrangers(VersionVector wanted) {
    for (int i = 0; i < wanted.size(); i++) {
      ReplicaId r = wanted.replica(i);
      if (isStranger(r) && wanted.number(i) > knowledge.here(r)) {
        return true;
      }
    }
    return false;
  }

  /** Whether it is of a datacenter that is no peer. */
  boolean isStranger(ReplicaId replica) {
    return !replica.dc().equals(around.self().dc()) && !around.peers().contains(replica.dc());
  }

  /** Whether an origin's updates may still come from itself. */
  private boolean mayShip(ReplicaId origin) {
    return knowledge.isNewest(origin)
        && (origin.equals(around.self()) || around.peers().contains(origin.dc()));
  }

  /** Whether every peer is there and gave all that it has of a former incarnation. */
  private boolean allHealed(ReplicaId former) {
    return allGave(former) && !inbound.isWaiting(former);
  }

  /** The same, though some of it may wait here. */
  private boolean allGave(ReplicaId former) {
    for (PeerStream stream : outbound.streams()) {
      ReplicaId peer = stream.peer();
      if (!stream.linkUp() || peer == null || !healer.isDone(peer, former)) {
        return false;
      }
    }
    return true;
  }

  /** {@link #isLost} is about to be asked, for all that is missing. */
  void lookForLosses() {
    losses.look();
  }

  /**
   * Whether certainly nobody has more of an origin's updates than has come here, visible or not.
   */
  boolean isLost(ReplicaId origin, long nowNanos) {
    return !mayShip(origin) && allGave(origin) && losses.isCertain(origin, nowNanos);
  }

  /** Whether all that a connected peer has of a former incarnation is here, and visible. */
  private boolean isFetched(PeerStream stream, ReplicaId former) {
    ReplicaId peer = stream.peer();
    return peer != null && healer.isDone(peer, former) && !inbound.isWaiting(former);
  }

  /** See {@link Propagation#everywhere}. */
  long everywhere(ReplicaId replica) {
    long least = knowledge.here(replica);
    for (String dc : around.peers()) {
      Frame.Status status = knowledge.status(dc);
      least = status == null ? 0 : Math.min(least, status.through().get(replica));
    }
    return least;
  }

  /** See {@link Propagation#committedElsewhere}. */
  VersionVector committedElsewhere() {
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

  /** See {@link Propagation#areCurrent}. */
  boolean areCurrent(VersionVector vector) {
    for (int i = 0; i < vector.size(); i++) {
      if (!knowledge.isNewest(vector.replica(i))) {
        return false;
      }
    }
    return true;
  }

  /** See {@link Propagation#shipped}. */
  long shipped() {
    long shipped = outbound.committed();
    for (String dc : around.peers()) {
      Frame.Status status = knowledge.status(dc);
      shipped = Math.min(shipped, status == null ? 0 : status.through().get(around.self()));
    }
    return shipped;
  }

  /** See {@link Propagation#having}. */
  Set<String> having(long number) {
    Set<String> having = new TreeSet<>();
    for (String dc : around.peers()) {
      Frame.Status status = knowledge.status(dc);
      if (status != null && status.through().get(around.self()) >= number) {
        having.add(dc);
      }
    }
    return having;
  }

  /**
   * Whether nothing is under way between this datacenter and any other: all are connected, have
   * what is here and nothing else, and wait for nothing.
   */
  boolean isAtRest() {
    if (!outbound.isDrained() || inbound.waiting() > 0 || !healer.isIdle()) {
      return false;
    }
    VersionVector here = knowledge.through().raised(around.self(), outbound.through());
    for (PeerStream stream : outbound.streams()) {
      if (!isAtRest(stream, here)) {
        return false;
      }
    }
    return outbound.through() == outbound.committed();
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
        && hasOthersFrom(stream);
  }

  /** See {@link Propagation#isCaughtUp}. */
  boolean isCaughtUp(long nowNanos, long graceNanos) {
    for (PeerStream stream : outbound.streams()) {
      Frame.Status status = firstStatus.get(stream.dc());
      if (status == null) {
        // It has let this one in, which may take it long: so it is there, and tells what it has.
        long since = stream.linkUp() ? Math.max(awaitedNanos, stream.upSinceNanos()) : awaitedNanos;
        if (nowNanos - since < graceNanos) {
          return false;
        }
      } else if (coverage(status.through()) == Coverage.NOT_YET
          && (stream.linkUp() || nowNanos - stream.downSinceNanos() < graceNanos)) {
        return false;
      }
    }
    return true;
  }

  /** See {@link Propagation#isSettled}. */
  boolean isSettled() {
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
        boolean ours = former.dc().equals(around.self().dc()) && !former.equals(around.self());
        if (ours && !isFetched(stream, former)) {
          return false;
        }
      }
    }
    return true;
  }

  /** See {@link Propagation#peers}. */
  List<PeerProgress> peers(long nowNanos) {
    List<PeerProgress> progress = new ArrayList<>();
    for (PeerStream stream : outbound.streams()) {
      ReplicaId peer = knowledge.newest(stream.dc());
      Frame.Status status = knowledge.status(stream.dc());
      long has = status == null ? 0 : status.through().get(around.self());
      long there = status == null || peer == null ? 0 : status.through().get(peer);
      long here = peer == null ? 0 : knowledge.through().get(peer);
      progress.add(
          new PeerProgress(
              stream.dc(),
              peer == null ? 0 : peer.incarnation(),
              stream.linkUp(),
              stream.mode().label(),
              outbound.lag(has, nowNanos),
              outbound.timeliness(stream, nowNanos),
              stream.inFlightBytes(),
              stream.sentBytes(),
              stream.roundTimes(),
              Math.max(0, there - here),
              nowNanos - aliveNanos(stream.dc())));
    }
    return progress;
  }
}
