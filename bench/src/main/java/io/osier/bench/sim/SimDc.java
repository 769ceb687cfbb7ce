package io.osier.bench.sim;

import io.osier.core.ReplicaId;
import io.osier.core.SlewedClock;
import io.osier.datacenter.partition.Input;
import io.osier.datacenter.partition.Now;
import java.util.ArrayList;
import java.util.List;

/** One datacenter: a node for each unit, a wall clock of its own, up or down, fast or slow. */
final class SimDc {
  private static final long EPOCH_MILLIS = 1_700_000_000_000L;

  private final Simulation simulation;
  private final List<SimNode> nodes = new ArrayList<>();
  private ReplicaId self;
  private boolean up;
  private SlewedClock clock;
  private double driftPerNano;
  private long jumpMillis;
  private long slowNanos;
  private long changedNanos;

  SimDc(Simulation simulation, String name) {
    this.simulation = simulation;
    this.self = new ReplicaId(name, 1);
  }

  /** Starts without any memory. */
  void start(ReplicaId as) {
    long nanos = simulation.scheduler().nanos();
    self = as;
    up = true;
    changedNanos = nanos;
    clock = new SlewedClock(wall(nanos), nanos);
    nodes.clear();
    simulation.units().forEach(unit -> nodes.add(new SimNode(simulation, this, unit)));
  }

  private long wall(long nanos) {
    return EPOCH_MILLIS + nanos / 1_000_000 + jumpMillis + (long) (nanos * driftPerNano / 1e6);
  }

  Now now() {
    long nanos = simulation.scheduler().nanos();
    return new Now(nanos, clock.read(wall(nanos), nanos));
  }

  void crash() {
    up = false;
    changedNanos = simulation.scheduler().nanos();
  }

  boolean isUp() {
    return up;
  }

  /** Its present incarnation, or the last one. */
  ReplicaId self() {
    return self;
  }

  SimNode node(Unit unit) {
    return nodes.get(unit.number());
  }

  /** An input for all units. */
  void submitToAll(Input input) {
    nodes.forEach(n -> n.submit(input));
  }

  void jump(long millis) {
    jumpMillis += millis;
  }

  void drift(double perNano) {
    driftPerNano = perNano;
  }

  /** From now on inputs are handled so much later. */
  void slow(long nanos) {
    slowNanos = nanos;
    changedNanos = simulation.scheduler().nanos();
  }

  long slowNanos() {
    return slowNanos;
  }

  /** Since when it has been up and not slow; Long.MAX_VALUE if it is not. */
  long steadySinceNanos() {
    return up && slowNanos == 0 ? changedNanos : Long.MAX_VALUE;
  }
}
