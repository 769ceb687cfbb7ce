package io.osier.bench.sim.check;

import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.protocol.Request;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The copies at a datacenter, in one of its lives, show of a key all that was shown of it there
 * before, by a holder or by a copy, to anybody.
 */
public final class CopyCheck {
  private final Unit unit;
  private final SessionCheck.Coverage coverage;

  /** By what stands for a datacenter in one of its lives. */
  private final Map<Object, Map<Key, VersionVector>> shown = new HashMap<>();

  private long answered;

  public CopyCheck(Unit unit, SessionCheck.Coverage coverage) {
    this.unit = unit;
    this.coverage = coverage;
  }

  /** How many reads were answered by copies. */
  public long answered() {
    return answered;
  }

  /** What an answer covers that says it has seen this, of the objects of its key. */
  public static CausalContext context(VersionVector seen) {
    CausalContext all = CausalContext.EMPTY;
    for (int i = 0; i < seen.size(); i++) {
      all = all.join(CausalContext.range(seen.replica(i), 0, seen.number(i)));
    }
    return all;
  }

  /** This was shown of each of these. */
  public void shown(Object life, List<Key> keys, VersionVector seen) {
    Map<Key, VersionVector> there = shown.computeIfAbsent(life, l -> new HashMap<>());
    keys.forEach(key -> there.merge(key, seen, VersionVector::join));
  }

  /** Some of it was lost with a holder's memory. */
  public void forget(Object life) {
    shown.remove(life);
  }

  /**
   * A copy answers a read.
   *
   * @param seen by the answer
   */
  public void answered(Object life, ReplicaId at, Request.Read read, VersionVector seen) {
    answered++;
    VersionVector before =
        shown.getOrDefault(life, Map.of()).getOrDefault(read.key(), VersionVector.EMPTY);
    read.type()
        .map(type -> new ObjectId(read.key(), type))
        .filter(object -> !coverage.covers(object, context(seen), context(before)))
        .ifPresent(
            object -> {
              throw new Violation(
                  unit + "/" + object,
                  "a copy at %s shows only %s of %s, of which %s was shown there before",
                  at,
                  seen,
                  object,
                  before);
            });
    shown(life, List.of(read.key()), seen);
  }
}
