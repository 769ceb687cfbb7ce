package io.osier.datacenter.trace;

import io.osier.core.ReplicaId;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What peers have told of shipments that have not come. Thread-safe. */
final class NotedUpdates {
  /** So many updates are noted by peers and have not come; the oldest were lost on their way. */
  private static final int NOTED_MAX = 1_024;

  private record Shipped(ReplicaId origin, long last) {}

  private final Map<Shipped, List<TraceNote.Joined>> noted = new LinkedHashMap<>();

  /** So that nobody need wait where nothing is. */
  private volatile boolean isAny;

  /** A peer tells which followed updates are in shipments that follow. */
  synchronized void add(ReplicaId peer, List<TraceNote.Joined> told) {
    for (TraceNote.Joined j : told) {
      noted.computeIfAbsent(new Shipped(peer, j.last()), s -> new ArrayList<>(1)).add(j);
    }
    for (Iterator<?> it = noted.keySet().iterator(); noted.size() > NOTED_MAX; ) {
      it.next();
      it.remove();
    }
    isAny = !noted.isEmpty();
  }

  /** Takes what was told of a shipment. */
  List<TraceNote.Joined> take(ReplicaId origin, long last) {
    return isAny ? taken(new Shipped(origin, last)) : List.of();
  }

  private synchronized List<TraceNote.Joined> taken(Shipped shipped) {
    List<TraceNote.Joined> taken = noted.remove(shipped);
    isAny = !noted.isEmpty();
    return taken == null ? List.of() : taken;
  }
}
