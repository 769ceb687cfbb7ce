package io.osier.bench.sim.check;

import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The copies at a datacenter, in one of its lives, show of a key all that was shown of it there
 * before, by a holder or by a copy, to anybody; and what says its age is no older.
 */
public final class CopyCheck {
  /** How many former moments are known of an object, at most. */
  private static final int HELD_MAX = 200;

  private static final long AGE_TOLERANCE_NANOS = 10_000_000;
  private static final ArrayDeque<Held> NOTHING = new ArrayDeque<>();

  private final Unit unit;
  private final SessionCheck.Coverage coverage;

  /** By one life of a datacenter, what was shown there of each key. */
  private final Map<Object, Map<Key, VersionVector>> shown = new HashMap<>();

  /** By one life of a holder, what it covered of each object at some moments. */
  private final Map<Object, Map<ObjectId, ArrayDeque<Held>>> held = new HashMap<>();

  private long answered;
  private long aged;

  /** What a holder covered of an object at a time. */
  private record Held(long nanos, CausalContext covered) {}

  public CopyCheck(Unit unit, SessionCheck.Coverage coverage) {
    this.unit = unit;
    this.coverage = coverage;
  }

  /** How many reads were answered by copies. */
  public long answered() {
    return answered;
  }

  /** How many reads were answered by copies that said their age. */
  public long aged() {
    return aged;
  }

  /** The dots that an answer covers of its object, by the version vector that it names. */
  public static CausalContext context(VersionVector seen) {
    CausalContext all = CausalContext.EMPTY;
    for (int i = 0; i < seen.size(); i++) {
      all = all.join(CausalContext.range(seen.replica(i), 0, seen.number(i)));
    }
    return all;
  }

  /** A version vector was shown with each of these keys. */
  public void shown(Object life, List<Key> keys, VersionVector seen) {
    Map<Key, VersionVector> there = shown.computeIfAbsent(life, l -> new HashMap<>());
    keys.forEach(key -> there.merge(key, seen, VersionVector::join));
  }

  /** Forgets what was shown in one life, since some of it was lost with a holder's memory. */
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

  /** Notes what a holder covers at present of the object of a read. */
  public void holds(
      Object life, Request.Read read, Function<ObjectId, CausalContext> covered, long nanos) {
    read.type()
        .map(type -> new ObjectId(read.key(), type))
        .ifPresent(
            object -> {
              ArrayDeque<Held> all =
                  held.computeIfAbsent(life, l -> new HashMap<>())
                      .computeIfAbsent(object, o -> new ArrayDeque<>());
              all.addLast(new Held(nanos, covered.apply(object)));
              if (all.size() > HELD_MAX) {
                all.removeFirst();
              }
            });
  }

  /**
   * A copy of what a holder told says that it is so old at most: it has what that one is known to
   * have covered then.
   *
   * @param life of the holder
   * @param seen by the answer
   */
  public void aged(
      Object life,
      ReplicaId at,
      Request.Read read,
      VersionVector seen,
      long nowNanos,
      Duration age) {
    aged++;
    // A datacenter's clock follows one that is set by a twentieth.
    long before = nowNanos - age.toNanos() - age.toNanos() / 10 - AGE_TOLERANCE_NANOS;
    read.type()
        .map(type -> new ObjectId(read.key(), type))
        .ifPresent(
            object -> {
              for (Held then : held.getOrDefault(life, Map.of()).getOrDefault(object, NOTHING)) {
                if (then.nanos <= before && !coverage.covers(object, context(seen), then.covered)) {
                  throw new Violation(
                      unit + "/" + object,
                      "a copy at %s that says it is %s old shows only %s of %s, of which its"
                          + " holder had %s %d ms ago",
                      at,
                      age,
                      seen,
                      object,
                      then.covered,
                      (nowNanos - then.nanos) / 1_000_000);
                }
              }
            });
  }
}
