package io.osier.bench.sim;

import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * What crashes have taken: the memory of whole incarnations, and commits that were not durable yet.
 * Used by the simulation's thread.
 */
final class Losses {
  private record Recovery(Unit unit, ReplicaId self, long nanos, long committed) {}

  private final Scheduler scheduler;
  private final Set<ReplicaId> lost = new TreeSet<>();
  private final List<Recovery> recoveries = new ArrayList<>();

  Losses(Scheduler scheduler) {
    this.scheduler = scheduler;
  }

  /** An incarnation has lost its memory. */
  void forgot(ReplicaId incarnation) {
    lost.add(incarnation);
  }

  /** A store was opened again, with an incarnation's commits up to a number. */
  void recovered(Unit unit, ReplicaId self, long committed) {
    recoveries.add(new Recovery(unit, self, scheduler.nanos(), committed));
  }

  /** Whether a crash took a commit back before it was durable. */
  boolean tookBack(Unit unit, Dot commit, long sinceNanos) {
    return recoveries.stream()
        .anyMatch(
            r ->
                r.unit == unit
                    && r.self.equals(commit.replica())
                    && r.nanos >= sinceNanos
                    && r.committed < commit.number());
  }

  /** The incarnations that lost their memory. */
  Set<ReplicaId> lost() {
    return lost;
  }

  /** Whether something of a vector was lost with an incarnation's memory. */
  boolean hasLost(VersionVector vector) {
    boolean any = false;
    for (int i = 0; i < vector.size(); i++) {
      any |= lost.contains(vector.replica(i));
    }
    return any;
  }
}
