package io.osier.bench.sim.node;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.world.Scheduler;
import io.osier.bench.sim.world.SimLink;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ReplicaId;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.propagation.host.StoredObjects;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Checks that a partition that begins with nothing serves commands only once it has what its peers
 * had.
 */
final class StartCheck {
  /** Within this time a status frame comes over a healthy link. */
  private static final long HEARD_NANOS = 2 * Scheduler.SECOND;

  private final Simulation simulation;
  private final SimNode node;

  /** When it began. */
  private final long beganNanos;

  /** How many updates each of the others had shipped when it began, if it did so with nothing. */
  private final Map<ReplicaId, Long> had = new HashMap<>();

  /** Of a partition that begins. */
  StartCheck(Simulation simulation, SimNode node) {
    this.simulation = simulation;
    this.node = node;
    beganNanos = simulation.scheduler().nanos();
  }

  /** Returns the objects that are only tombstones; the store must have noted all of them. */
  List<ObjectId> removed() {
    List<ObjectId> removed =
        node.store().scan(Optional.empty(), Integer.MAX_VALUE).stream()
            .filter(e -> e.state().isSpent())
            .map(StoredObjects.Entry::object)
            .toList();
    List<ObjectId> noted = node.store().removed(Optional.empty(), Integer.MAX_VALUE);
    if (!removed.equals(noted)) {
      throw new Violation(
          node.unit(),
          "%s holds %s that only remember their removal, and its store has noted %s",
          node,
          removed,
          noted);
    }
    return removed;
  }

  /** The partition has handled its first inputs: notes what its peers have, unless it is ready. */
  void begun() {
    if (!node.isReady()) {
      simulation.holders().of(node.unit()).stream()
          .filter(other -> !other.self().dc().equals(node.self().dc()) && other.isUp())
          .map(other -> other.node(node.unit()))
          .forEach(other -> had.put(other.self(), other.shipped()));
    }
  }

  /**
   * It serves commands. Whoever began with nothing has what the others had: those that are heard
   * and can be asked now, and soon after the start any that is there, for the link may not be up
   * yet.
   */
  void served(PartitionReport report) {
    long readyNanos = simulation.scheduler().nanos();
    boolean soon = readyNanos - beganNanos < Partition.JOIN_NANOS;
    for (PartitionReport.Peer peer : report.peers()) {
      ReplicaId other = simulation.dc(peer.dc()).replica(node.unit());
      long has = report.content().through().get(other);
      SimLink back = simulation.network().link(peer.dc(), node.self().dc());
      boolean isHeard = back.healthySinceNanos() <= readyNanos - HEARD_NANOS;
      long expected = had.getOrDefault(other, 0L);
      if ((soon || (peer.connected() && isHeard)) && has < expected) {
        throw new Violation(
            node.unit().toString(),
            "%s serves commands %d ms after its start, with %d of the %d updates that %s had",
            node,
            (readyNanos - beganNanos) / Scheduler.MILLI,
            has,
            expected,
            other);
      }
    }
  }
}
