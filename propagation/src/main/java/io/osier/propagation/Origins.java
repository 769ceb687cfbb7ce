package io.osier.propagation;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.receive.Inbound;
import io.osier.propagation.receive.InboundStream;
import io.osier.propagation.receive.ReceivedVector;
import io.osier.propagation.repair.Repairer;
import io.osier.propagation.send.Outbound;
import io.osier.propagation.send.PeerStream;
import io.osier.propagation.wire.Frame;

/**
 * From where an origin's updates may still come: from itself, from a peer that has them, or from
 * nobody any more. Answers only; not thread-safe.
 */
final class Origins {
  private final ReplicationContext around;
  private final ReceivedVector knowledge;
  private final Outbound outbound;
  private final Inbound inbound;
  private final Repairer repairer;
  private final long startNanos;
  private final LossDetector losses;

  /** Whether this datacenter may not know all others yet. */
  private boolean joins;

  /** Whether it was told who there is; its configuration may be older than a change of that. */
  private boolean membersKnown;

  Origins(
      ReplicationContext around,
      ReceivedVector knowledge,
      Outbound outbound,
      Inbound inbound,
      Repairer repairer,
      LossDetector losses,
      long nowNanos) {
    this.around = around;
    this.knowledge = knowledge;
    this.outbound = outbound;
    this.inbound = inbound;
    this.repairer = repairer;
    this.losses = losses;
    this.startNanos = nowNanos;
  }

  /** The datacenter was told who there is; whether it joins, and so may not know all others. */
  void setJoins(boolean now) {
    joins = now;
    membersKnown = !joins;
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
  long aliveNanos(String dc) {
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

  /** Whether everything that a vector names is here, as far as the peers of now can tell. */
  Coverage coverage(VersionVector wanted) {
    Coverage worst = Coverage.HERE;
    for (int i = 0; i < wanted.size(); i++) {
      ReplicaId r = wanted.replica(i);
      if (wanted.number(i) > knowledge.here(r)) {
        if (mayShip(r) || !allRepaired(r)) {
          return Coverage.NOT_YET;
        }
        // More of it may be here, but it cannot be told: what was never claimed complete may have
        // gaps.
        worst = Coverage.LOST;
      }
    }
    return worst;
  }

  /** The same for a session: of whom nobody has told this one yet, others may have it. */
  Coverage coverageForSessions(VersionVector wanted) {
    Coverage coverage = coverage(wanted);
    boolean mayBeElsewhere = joins || (!membersKnown && lacksOfStrangers(wanted));
    return coverage == Coverage.LOST && mayBeElsewhere ? Coverage.NOT_YET : coverage;
  }

  /**
   * Whether there may be datacenters that are no peers yet: this one joins, or has or has heard of
   * updates of such, and was not told who there is.
   */
  boolean mayLackPeers() {
    return joins
        || (!membersKnown
            && (namesStrangers(knowledge.through())
                || around.peers().stream()
                    .map(knowledge::status)
                    .anyMatch(status -> status != null && namesStrangers(status.through()))));
  }

  private boolean namesStrangers(VersionVector vector) {
    for (int i = 0; i < vector.size(); i++) {
      if (isStranger(vector.replica(i))) {
        return true;
      }
    }
    return false;
  }

  /** Whether something is not here of datacenters that are no peers. */
  private boolean lacksOfStrangers(VersionVector wanted) {
    for (int i = 0; i < wanted.size(); i++) {
      ReplicaId r = wanted.replica(i);
      if (isStranger(r) && wanted.number(i) > knowledge.here(r)) {
        return true;
      }
    }
    return false;
  }

  /** Whether it is of a datacenter that is no peer. */
  private boolean isStranger(ReplicaId replica) {
    return !replica.dc().equals(around.self().dc()) && !around.peers().contains(replica.dc());
  }

  /** Whether an origin's updates may still come from itself. */
  private boolean mayShip(ReplicaId origin) {
    return knowledge.isNewest(origin)
        && (origin.equals(around.self()) || around.peers().contains(origin.dc()));
  }

  /** Whether every peer is there and gave all that it has of a former incarnation. */
  private boolean allRepaired(ReplicaId former) {
    return allGave(former) && !inbound.isWaiting(former);
  }

  /** The same, though some of it may wait here. */
  private boolean allGave(ReplicaId former) {
    for (PeerStream stream : outbound.streams()) {
      ReplicaId peer = stream.peer();
      if (!stream.linkUp() || peer == null || !repairer.isDone(peer, former)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether certainly nobody has more of an origin's updates than has come here, visible or not.
   */
  boolean isLost(ReplicaId origin, long nowNanos) {
    boolean mayBeElsewhere = joins || (!membersKnown && isStranger(origin));
    return !mayBeElsewhere
        && !mayShip(origin)
        && allGave(origin)
        && losses.isCertain(origin, nowNanos);
  }

  /** Whether all that a connected peer has of a former incarnation is here, and visible. */
  boolean isFetched(PeerStream stream, ReplicaId former) {
    ReplicaId peer = stream.peer();
    return peer != null && repairer.isDone(peer, former) && !inbound.isWaiting(former);
  }

  /**
   * Whether all that a peer has of those that ship nothing themselves any more is here. What it has
   * beyond a gap its status does not claim.
   */
  boolean hasOthersFrom(PeerStream stream) {
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
}
