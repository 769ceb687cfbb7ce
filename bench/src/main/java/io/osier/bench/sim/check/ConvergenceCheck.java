package io.osier.bench.sim.check;

import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ReplicaId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.host.StoredObjects;
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
public final class ConvergenceCheck {
  private ConvergenceCheck() {}

  /** Whether the stores hold the same. */
  public static boolean isAtRest(Collection<? extends ObjectStore> stores) {
    Map<ObjectId, CrdtState> first = null;
    for (ObjectStore store : stores) {
      Map<ObjectId, CrdtState> shown = new HashMap<>();
      for (StoredObjects.Entry e : store.scan(Optional.empty(), Integer.MAX_VALUE)) {
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

  public static Map<ObjectId, CrdtState> content(ObjectStore store) {
    Map<ObjectId, CrdtState> content = new TreeMap<>();
    for (StoredObjects.Entry e : store.scan(Optional.empty(), Integer.MAX_VALUE)) {
      content.put(e.object(), Decomposition.whole(e.state())); // it is looked at later
    }
    return content;
  }

  public static void ended(Unit unit, Map<ReplicaId, Map<ObjectId, CrdtState>> contents) {
    Map.Entry<ReplicaId, Map<ObjectId, CrdtState>> first = contents.entrySet().iterator().next();
    for (Map.Entry<ReplicaId, Map<ObjectId, CrdtState>> other : contents.entrySet()) {
      Set<ObjectId> objects = new TreeSet<>(first.getValue().keySet());
      objects.addAll(other.getValue().keySet());
      for (ObjectId object : objects) {
        CrdtState bottom = CrdtState.bottom(object.type());
        CrdtState one = first.getValue().getOrDefault(object, bottom);
        CrdtState two = other.getValue().getOrDefault(object, bottom);
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

  private static boolean isEqual(CrdtState one, CrdtState two) {
    return one.trimmed().equals(two.trimmed())
        && one.read(new Query.Whole()).equals(two.read(new Query.Whole()));
  }
}
