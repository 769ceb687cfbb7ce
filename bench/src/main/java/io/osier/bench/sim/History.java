package io.osier.bench.sim;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.datacenter.store.MemoryStore;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.ObjectId;
import io.osier.propagation.Shipment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Every update of one keyspace as it was made, and the checks against it:
 *
 * <ul>
 *   <li>convergence: at the end all datacenters hold equal states;
 *   <li>exactly once: each object's state is the join of just the updates that must be in it. All
 *       of an incarnation that kept its memory; of one that lost it, those up to the last that
 *       anyone has;
 *   <li>per-object causal order: an object never shows an update without what its origin had seen
 *       of the object when it made it.
 * </ul>
 */
final class History {
  /** An update and what its origin had seen of the object before. */
  private record Made(Causal delta, CausalContext before) {}

  private final Map<ObjectId, Map<ReplicaId, TreeMap<Long, Made>>> made = new HashMap<>();
  private long updates;

  /** Notes an update of this datacenter itself. */
  void made(Shipment update, CausalContext before) {
    made.computeIfAbsent(update.object(), o -> new HashMap<>())
        .computeIfAbsent(update.origin(), r -> new TreeMap<>())
        .put(update.last(), new Made(update.content(), before));
    updates++;
  }

  long updates() {
    return updates;
  }

  /** Checks an object whose context has grown. */
  void checkOrder(String at, ObjectId object, CausalContext before, CausalContext after) {
    Map<ReplicaId, TreeMap<Long, Made>> of = made.getOrDefault(object, Map.of());
    for (int i = 0; i < after.size(); i++) {
      ReplicaId r = after.replica(i);
      long from = before.through(r);
      long to = after.last(r);
      if (to > from && of.containsKey(r)) {
        for (Map.Entry<Long, Made> e : of.get(r).subMap(from, false, to, true).entrySet()) {
          if (!after.covers(e.getValue().before)) {
            throw new Violation(
                object.key().toString(),
                at
                    + " shows update "
                    + r
                    + ":"
                    + e.getKey()
                    + " of "
                    + object
                    + " without all that it had seen: has "
                    + after
                    + ", it had seen "
                    + e.getValue().before);
          }
        }
      }
    }
  }

  /**
   * Checks the end.
   *
   * @param stores by datacenter
   * @param lost incarnations that lost their memory
   */
  void checkEnd(Map<String, MemoryStore> stores, List<ReplicaId> lost) {
    Map<String, Map<ObjectId, Causal>> contents = new TreeMap<>();
    stores.forEach((dc, store) -> contents.put(dc, content(store)));
    Map<ObjectId, Causal> first = contents.values().iterator().next();
    contents.forEach(
        (dc, content) -> checkEqual(contents.keySet().iterator().next(), first, dc, content));
    for (Map.Entry<ObjectId, Map<ReplicaId, TreeMap<Long, Made>>> e : made.entrySet()) {
      ObjectId object = e.getKey();
      Causal actual = first.getOrDefault(object, Causal.bottom(object.type()));
      Causal expected = Causal.bottom(object.type());
      for (Map.Entry<ReplicaId, TreeMap<Long, Made>> own : e.getValue().entrySet()) {
        boolean wasLost = lost.contains(own.getKey());
        long through = wasLost ? actual.context().through(own.getKey()) : Long.MAX_VALUE;
        for (Made update : own.getValue().headMap(through, true).values()) {
          expected = expected.join(update.delta);
        }
      }
      if (!expected.equals(actual)) {
        throw new Violation(
            object.key().toString(),
            "updates are missing or twice in "
                + object
                + ": is "
                + actual
                + ", must be "
                + expected);
      }
    }
  }

  private static Map<ObjectId, Causal> content(MemoryStore store) {
    Map<ObjectId, Causal> content = new TreeMap<>();
    for (ObjectStore.Entry e : store.scan(Optional.empty(), Integer.MAX_VALUE)) {
      content.put(e.object(), e.state());
    }
    return content;
  }

  private static void checkEqual(
      String dc, Map<ObjectId, Causal> one, String otherDc, Map<ObjectId, Causal> other) {
    List<ObjectId> all = new ArrayList<>(one.keySet());
    other.keySet().stream().filter(o -> !one.containsKey(o)).forEach(all::add);
    for (ObjectId object : all) {
      if (!String.valueOf(one.get(object)).equals(String.valueOf(other.get(object)))
          && (one.get(object) == null || !one.get(object).equals(other.get(object)))) {
        throw new Violation(
            object.key().toString(),
            object
                + " differs: "
                + dc
                + " has "
                + one.get(object)
                + ", "
                + otherDc
                + " has "
                + other.get(object));
      }
    }
  }

  /** Whether all stores hold the same contexts: cheap, and nearly always the same as equality. */
  static boolean isSettled(List<MemoryStore> stores) {
    Map<ObjectId, VersionVector> first = vectors(stores.getFirst());
    return stores.stream().allMatch(s -> vectors(s).equals(first));
  }

  private static Map<ObjectId, VersionVector> vectors(MemoryStore store) {
    Map<ObjectId, VersionVector> vectors = new HashMap<>();
    for (ObjectStore.Entry e : store.scan(Optional.empty(), Integer.MAX_VALUE)) {
      vectors.put(e.object(), e.state().context().toVersionVector());
    }
    return vectors;
  }
}
