package io.osier.datacenter.trace;

import io.osier.core.ReplicaId;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Remembers what peers have told of traced updates in shipments that have not come yet.
 * Thread-safe.
 */
final class NotedUpdates {
  /** Most shipments that are remembered; the oldest are dropped, as they were probably lost. */
  private static final int NOTED_MAX = 1_024;

  private record Shipped(ReplicaId origin, long last) {}

  private final Map<Shipped, List<TraceNote.Joined>> noted = new LinkedHashMap<>();

  /** Whether anything is remembered, so that callers need no lock if nothing is. */
  private volatile boolean isAny;

  /** Adds what a peer tells: which traced updates are in shipments that follow. */
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

  /** Removes and returns what was told of a shipment. */
  List<TraceNote.Joined> take(ReplicaId origin, long last) {
    return isAny ? taken(new Shipped(origin, last)) : List.of();
  }

  private synchronized List<TraceNote.Joined> taken(Shipped shipped) {
    List<TraceNote.Joined> taken = noted.remove(shipped);
    isAny = !noted.isEmpty();
    return taken == null ? List.of() : taken;
  }
}
