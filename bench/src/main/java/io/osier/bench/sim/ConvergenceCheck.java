package io.osier.bench.sim;

import io.osier.core.ReplicaId;
import io.osier.crdt.Causal;
import io.osier.crdt.Decomposition;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.datacenter.store.ObjectStore;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * At the end all datacenters hold the same objects with equal content and equal readings; what only
 * remembers removals does not count, for some have forgotten it already.
 */
final class ConvergenceCheck {
  private ConvergenceCheck() {}

  /** Whether the stores hold the same. */
  static boolean isAtRest(Collection<? extends ObjectStore> stores) {
    Map<ObjectId, Causal> first = null;
    for (ObjectStore store : stores) {
      Map<ObjectId, Causal> shown = new HashMap<>();
      for (ObjectStore.Entry e : store.scan(Optional.empty(), Integer.MAX_VALUE)) {
        if (!e.state().isSpent()) {
          shown.put(e.object(), e.state().trimmed());
        }
      }
      if (first != null && !first.equals(shown)) {
        return false;
      }
      first = shown;
    }
    return true;
  }

  static Map<ObjectId, Causal> content(ObjectStore store) {
    Map<ObjectId, Causal> content = new TreeMap<>();
    for (ObjectStore.Entry e : store.scan(Optional.empty(), Integer.MAX_VALUE)) {
      content.put(e.object(), Decomposition.whole(e.state())); // it is looked at later
    }
    return content;
  }

  static void ended(Unit unit, Map<ReplicaId, Map<ObjectId, Causal>> contents) {
    Map.Entry<ReplicaId, Map<ObjectId, Causal>> first = contents.entrySet().iterator().next();
    for (Map.Entry<ReplicaId, Map<ObjectId, Causal>> other : contents.entrySet()) {
      Set<ObjectId> objects = new TreeSet<>(first.getValue().keySet());
      objects.addAll(other.getValue().keySet());
      for (ObjectId object : objects) {
        Causal bottom = Causal.bottom(object.type());
        Causal one = first.getValue().getOrDefault(object, bottom);
        Causal two = other.getValue().getOrDefault(object, bottom);
        if (!isEqual(one, two)) {
          throw new Violation(
              unit + "/" + object,
              "%s differs: %s has %s, %s has %s",
              object,
              first.getKey(),
              one,
              other.getKey(),
              two);
        }
      }
    }
  }

  private static boolean isEqual(Causal one, Causal two) {
    return one.trimmed().equals(two.trimmed())
        && one.read(new Query.Whole()).equals(two.read(new Query.Whole()));
  }
}
