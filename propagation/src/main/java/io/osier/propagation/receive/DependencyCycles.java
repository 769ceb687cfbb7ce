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
 * Finds waiting updates of one object, from several origins, that build on each other: each needs
 * what another one brings, so none can be first, but all can be joined at once. That is the usual
 * case after an outage, since missed updates come joined: one delta for all that eu did and one for
 * all that us did, while eu had seen the first updates of us, and us those of eu.
 */
final class DependencyCycles {
  private DependencyCycles() {}

  /**
   * Returns the updates that can be applied together.
   *
   * @param queues the waiting updates of the object by stream, oldest first
   * @param seen returns up to which number all of a replica's updates on the object are here
   * @return the updates, in no particular order except that of each stream; empty if something is
   *     missing that does not wait here
   */
  static List<Shipment> closed(
      Collection<? extends Collection<Shipment>> queues, ToLongFunction<ReplicaId> seen) {
    List<List<Shipment>> candidates = new ArrayList<>();
    for (Collection<Shipment> queue : queues) {
      if (!queue.isEmpty()) {
        candidates.add(new ArrayList<>(queue));
      }
    }
    // Most often the oldest update of a stream needs something that no candidate brings, which
    // shows without a look at the others.
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

  /** Computes what would be here of each replica if all candidates were applied. */
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

    /**
     * Returns up to which number the origin's updates are here before the queue's update {@code n}.
     */
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
