package io.osier.bench.sim.check;

import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.crdt.ObjectId;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Per-object causal order: no datacenter's object ever covers an update without covering all that
 * the update's origin had covered of the object when it made it, its own earlier updates among
 * that. Checked whenever an object of a datacenter changes, for the updates that the change brings.
 */
public final class CausalOrderCheck {
  private final Unit unit;
  private final Map<ObjectId, Map<ReplicaId, TreeMap<Long, CausalContext>>> made = new HashMap<>();

  public CausalOrderCheck(Unit unit) {
    this.unit = unit;
  }

  /** An update was made; its origin's object covered {@code before} until then. */
  public void made(ObjectId object, ReplicaId origin, long number, CausalContext before) {
    made.computeIfAbsent(object, o -> new HashMap<>())
        .computeIfAbsent(origin, r -> new TreeMap<>())
        .put(number, before);
  }

  /** Checks an object of a datacenter that now covers more than before. */
  public void changed(ReplicaId at, ObjectId object, CausalContext before, CausalContext after) {
    if (!after.covers(before)) {
      throw new Violation(
          unit + "/" + object, "%s forgot: %s covered %s, now %s", at, object, before, after);
    }
    Map<ReplicaId, TreeMap<Long, CausalContext>> of = made.getOrDefault(object, Map.of());
    for (int i = 0; i < after.size(); i++) {
      ReplicaId origin = after.replica(i);
      TreeMap<Long, CausalContext> updates = of.get(origin);
      if (updates == null) {
        continue;
      }
      for (int k = 0; k < after.rangeCount(i); k++) {
        long from = Math.max(after.rangeAfter(i, k), before.through(origin));
        long through = after.rangeLast(i, k);
        if (from < through) {
          check(at, object, origin, after, updates.subMap(from, false, through, true));
        }
      }
    }
  }

  /**
   * Whether every update of the object that {@code wanted} covers is covered here. Contexts may
   * span numbers that are no updates of the object, here or there.
   */
  public boolean covers(ObjectId object, CausalContext here, CausalContext wanted) {
    if (here.covers(wanted)) {
      return true;
    }
    Map<ReplicaId, TreeMap<Long, CausalContext>> of = made.getOrDefault(object, Map.of());
    for (int i = 0; i < wanted.size(); i++) {
      ReplicaId r = wanted.replica(i);
      for (long number :
          of.getOrDefault(r, new TreeMap<>()).headMap(wanted.last(r), true).keySet()) {
        if (wanted.contains(r, number) && !here.contains(r, number)) {
          return false;
        }
      }
    }
    return true;
  }

  private void check(
      ReplicaId at,
      ObjectId object,
      ReplicaId origin,
      CausalContext after,
      Map<Long, CausalContext> updates) {
    for (Map.Entry<Long, CausalContext> update : updates.entrySet()) {
      if (!covers(object, after, update.getValue())) {
        throw new Violation(
            unit + "/" + object,
            "%s shows update %s:%d of %s without all that it had seen: it covers %s, the origin had"
                + " covered %s",
            at,
            origin,
            update.getKey(),
            object,
            after,
            update.getValue());
      }
    }
  }
}
