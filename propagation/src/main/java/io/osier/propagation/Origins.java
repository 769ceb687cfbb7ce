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
 * Says from where an origin's updates may still come: from itself, from a peer that has them, or
 * from nobody any more. Only answers questions; not thread-safe.
 */
final class Origins {
  private final ReplicationContext around;
  private final ReceivedVector knowledge;
  private final Outbound outbound;
  private final Inbound inbound;
  private final Repairer repairer;
  private final long startNanos;
  private final LossDetector losses;

  /** Whether this datacenter joins, and so may not know all others yet. */
  private boolean joins;

  /**
   * Whether it was told which datacenters there are; its configuration may be older than a change.
   */
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

  /**
   * Notes that the datacenter was told which datacenters there are, and whether it joins: then it
   * may not know all others.
   */
  void setJoins(boolean now) {
    joins = now;
    membersKnown = !joins;
  }

  /**
   * Whether the origin ships its updates itself: it is the newest incarnation of a peer that is
   * heard.
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
      // The origin has just come back, and will ship what is missing itself.
      heard = Math.max(heard, stream.upSinceNanos());
    } else {
      // The origin may be heard, while the acknowledgements that it waits for cannot reach it.
      heard = Math.min(heard, stream.downSinceNanos());
    }
    return nowNanos - heard < around.healNanos() + around.retryNanos();
  }

  /** Returns when a datacenter was last heard or excused; the start if it never was heard. */
  long aheadMillis(String dc) {
    InboundStream in = inbound.stream(dc);
    return in == null ? 0 : in.liveness().aheadMillis();
  }

  long aliveNanos(String dc) {
    InboundStream in = inbound.stream(dc);
    return in == null ? startNanos : in.liveness().aliveNanos();
  }

  /**
   * Whether an origin's updates need not be requested from a peer, since the origin ships them
   * itself, or may come back just as the peer did.
   */
  boolean comesFrom(ReplicaId origin, PeerStream peer, long nowNanos) {
    boolean justBack = nowNanos - peer.upSinceNanos() < around.healNanos();
    return isReachable(origin, nowNanos) || (justBack && knowledge.isNewest(origin));
  }

  /** Whether everything that a vector names is here, as far as the present peers can tell. */
  Coverage coverage(VersionVector wanted) {
    Coverage worst = Coverage.HERE;
    for (int i = 0; i < wanted.size(); i++) {
      ReplicaId r = wanted.replica(i);
      if (wanted.number(i) > knowledge.here(r)) {
        if (mayShip(r) || !allRepaired(r)) {
          return Coverage.NOT_YET;
        }
        // Later updates of the replica may be here, too, but that is not known: updates that were
        // never claimed complete may have gaps.
        worst = Coverage.LOST;
      }
    }
    return worst;
  }

  /**
   * As {@link #coverage}, for a session's vector: datacenters that this one has not been told of
   * may have the missing updates.
   */
  Coverage coverageForSessions(VersionVector wanted) {
    Coverage coverage = coverage(wanted);
    boolean mayBeElsewhere = joins || (!membersKnown && lacksOfStrangers(wanted));
    return coverage == Coverage.LOST && mayBeElsewhere ? Coverage.NOT_YET : coverage;
  }

  /**
   * Whether there may be datacenters that are no peers yet: this one joins; or it was not told
   * which datacenters there are, and it or a peer has updates of unknown ones.
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

  /** Whether updates of datacenters that are no peers are missing here. */
  private boolean lacksOfStrangers(VersionVector wanted) {
    for (int i = 0; i < wanted.size(); i++) {
      ReplicaId r = wanted.replica(i);
      if (isStranger(r) && wanted.number(i) > knowledge.here(r)) {
        return true;
      }
    }
    return false;
  }

  /** Whether a replica's datacenter is no peer. */
  private boolean isStranger(ReplicaId replica) {
    return !replica.dc().equals(around.self().dc()) && !around.peers().contains(replica.dc());
  }

  /** Whether an origin's updates may still come from itself. */
  private boolean mayShip(ReplicaId origin) {
    return knowledge.isNewest(origin)
        && (origin.equals(around.self()) || around.peers().contains(origin.dc()));
  }

  /**
   * Whether every peer is connected and gave all that it has of a former incarnation, and all of it
   * is visible.
   */
  private boolean allRepaired(ReplicaId former) {
    return allGave(former) && !inbound.isWaiting(former);
  }

  /**
   * Whether every peer is connected and gave all that it has of a former incarnation; some may wait
   * here.
   */
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
   * Whether certainly nobody has more of an origin's updates than this datacenter has received,
   * visible or not.
   */
  boolean isLost(ReplicaId origin, long nowNanos) {
    boolean mayBeElsewhere = joins || (!membersKnown && isStranger(origin));
    return !mayBeElsewhere
        && !mayShip(origin)
        && allGave(origin)
        && losses.isCertain(origin, nowNanos);
  }

  /** Whether all that a connected peer has of a former incarnation is here and visible. */
  boolean isFetched(PeerStream stream, ReplicaId former) {
    ReplicaId peer = stream.peer();
    return peer != null && repairer.isDone(peer, former) && !inbound.isWaiting(former);
  }

  /**
   * Whether all that a peer has of origins that ship nothing themselves any more is here. The
   * peer's status does not claim updates beyond a gap.
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
