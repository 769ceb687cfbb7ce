package io.osier.bench.sim.world;

import io.osier.bench.sim.plan.Unit;
import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Knows what crashes have lost: the memory of whole incarnations, and commits that were not durable
 * yet. Used by the simulation's thread.
 */
public final class Losses {
  private record Recovery(Unit unit, ReplicaId self, long nanos, long committed) {}

  private final Scheduler scheduler;
  private final Map<Unit, Set<ReplicaId>> lost = new HashMap<>();
  private final List<Recovery> recoveries = new ArrayList<>();

  public Losses(Scheduler scheduler) {
    this.scheduler = scheduler;
  }

  /** An incarnation has lost its memory of a unit. */
  public void forgot(Unit unit, ReplicaId incarnation) {
    lost.computeIfAbsent(unit, u -> new TreeSet<>()).add(incarnation);
  }

  /** A store was opened again, with an incarnation's commits up to a number. */
  public void recovered(Unit unit, ReplicaId self, long committed) {
    recoveries.add(new Recovery(unit, self, scheduler.nanos(), committed));
  }

  /** Whether a crash has lost a commit before it was durable. */
  public boolean tookBack(Unit unit, Dot commit, long sinceNanos) {
    return recoveries.stream()
        .anyMatch(
            r ->
                r.unit == unit
                    && r.self.equals(commit.replica())
                    && r.nanos >= sinceNanos
                    && r.committed < commit.number());
  }

  /** The incarnations that lost their memory of a unit. */
  public Set<ReplicaId> lost(Unit unit) {
    return lost.getOrDefault(unit, Set.of());
  }

  /** Whether something of a vector was lost with an incarnation's memory. */
  public boolean hasLost(Unit unit, VersionVector vector) {
    boolean any = false;
    for (int i = 0; i < vector.size(); i++) {
      any |= lost(unit).contains(vector.replica(i));
    }
    return any;
  }
}
