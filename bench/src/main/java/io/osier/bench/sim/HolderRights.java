package io.osier.bench.sim;

import io.osier.bench.sim.check.ConvergenceCheck;
import io.osier.bench.sim.node.SimNode;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ReplicaId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.types.BoundedCounter;
import java.util.HashMap;
import java.util.Map;

/**
 * Whoever holds a keyspace no more has no rights of its bounded counters, as nobody could use them.
 * One excuse: where the bounds are others than when it gave all away, its part of the wider ones is
 * still its own.
 */
public final class HolderRights {
  private record At(Unit unit, String dc) {}

  private record Bounds(long lower, long upper) {
    static Bounds of(BoundedCounter counter) {
      return new Bounds(counter.lower(), counter.upper());
    }
  }

  /** By one that has given its rights away, the bounds of what it had then. */
  private final Map<At, Map<ObjectId, Bounds>> given = new HashMap<>();

  /** A partition has nothing left to give away. */
  public void gave(SimNode node) {
    Map<ObjectId, Bounds> known = new HashMap<>();
    ConvergenceCheck.content(node.store())
        .forEach(
            (object, state) -> {
              if (state.store() instanceof BoundedCounter counter) {
                known.put(object, Bounds.of(counter));
              }
            });
    given.put(new At(node.unit(), node.self().dc()), known);
  }

  /**
   * The run has ended.
   *
   * @param dc does not hold the unit
   * @param contents of those that do
   */
  void ended(Unit unit, String dc, Map<ReplicaId, Map<ObjectId, CrdtState>> contents) {
    Map<ObjectId, Bounds> known = given.getOrDefault(new At(unit, dc), Map.of());
    contents.forEach(
        (at, content) ->
            content.forEach(
                (object, state) -> {
                  if (state.store() instanceof BoundedCounter counter
                      && (isSome(counter.downRights(dc)) || isSome(counter.upRights(dc)))
                      && Bounds.of(counter)
                          .equals(known.getOrDefault(object, Bounds.of(counter)))) {
                    throw new Violation(
                        unit + "/" + object,
                        "at %s %s, which holds nothing, has rights: %s",
                        at,
                        dc,
                        counter);
                  }
                }));
  }

  private static boolean isSome(long rights) {
    return rights > 0 && rights < Long.MAX_VALUE;
  }
}
