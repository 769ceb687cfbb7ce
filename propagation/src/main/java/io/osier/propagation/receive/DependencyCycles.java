package io.osier.propagation.receive;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Finds held updates of one object, of several origins, that build on each other: each needs what
 * another one brings, so none can be first, but all can be joined at once. That is the usual case
 * after an outage, since what was missed comes joined: one update of eu for all that eu did, and
 * one of us, while eu had seen us's first ones and us eu's.
 */
final class DependencyCycles {
  private DependencyCycles() {}

  /**
   * What can be applied together.
   *
   * @param queues by stream, what is held of the object, oldest first
   * @param seen up to which number of a replica everything that concerns the object is here
   * @return the updates, in no particular order but each stream's own; empty if something is
   *     missing that is not held
   */
  static List<Shipment> closed(
      Collection<? extends Collection<Shipment>> queues, ToLongFunction<ReplicaId> seen) {
    List<List<Shipment>> candidates = new ArrayList<>();
    for (Collection<Shipment> queue : queues) {
      if (!queue.isEmpty()) {
        candidates.add(new ArrayList<>(queue));
      }
    }
    // Most often the oldest of a stream needs what nobody brings: that is seen without a look at
    // the rest.
    Reach reach = new Reach(candidates, seen);
    while (candidates.removeIf(queue -> !reach.meets(queue.getFirst(), reach.here(queue, 0)))) {
      reach.renew(candidates);
    }
    boolean cutShort = true;
    while (cutShort && !candidates.isEmpty()) {
      cutShort = false;
      for (Iterator<List<Shipment>> it = candidates.iterator(); it.hasNext(); ) {
        List<Shipment> queue = it.next();
        int good = 0;
        while (good < queue.size() && reach.meets(queue.get(good), reach.here(queue, good))) {
          good++;
        }
        if (good < queue.size()) {
          queue.subList(good, queue.size()).clear();
          cutShort = true;
        }
        if (queue.isEmpty()) {
          it.remove();
        }
      }
      reach.renew(candidates);
    }
    return candidates.stream().flatMap(List::stream).toList();
  }

  /** What would be here of each replica if all candidates were applied. */
  private static final class Reach {
    private final ToLongFunction<ReplicaId> seen;
    private final Map<ReplicaId, Long> brought = new HashMap<>();

    Reach(List<List<Shipment>> candidates, ToLongFunction<ReplicaId> seen) {
      this.seen = seen;
      renew(candidates);
    }

    void renew(List<List<Shipment>> candidates) {
      brought.clear();
      for (List<Shipment> queue : candidates) {
        brought.merge(queue.getFirst().origin(), queue.getLast().last(), Math::max);
      }
    }

    /** What is here of the origin before the queue's nth update. */
    long here(List<Shipment> queue, int n) {
      long here = seen.applyAsLong(queue.get(n).origin());
      return n == 0 ? here : Math.max(here, queue.get(n - 1).last());
    }

    boolean meets(Shipment shipment, long hereOfOrigin) {
      if (shipment.content().isFull()) {
        return true;
      }
      if (hereOfOrigin < shipment.predecessor()) {
        return false;
      }
      VersionVector needs = shipment.needs();
      for (int i = 0; i < needs.size(); i++) {
        ReplicaId r = needs.replica(i);
        if (Math.max(seen.applyAsLong(r), brought.getOrDefault(r, 0L)) < needs.number(i)) {
          return false;
        }
      }
      return true;
    }
  }
}
