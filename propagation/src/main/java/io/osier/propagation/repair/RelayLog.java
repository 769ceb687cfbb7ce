package io.osier.propagation.repair;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.memory.Budget;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the updates of other datacenters that were received here and that some datacenter may not
 * have yet, joined per object, so that a third datacenter that is cut off from their origin can be
 * given just the updates that it lacks.
 *
 * <p>While all datacenters are connected, there are few. When its budget is spent it forgets
 * everything, and states are given instead. Not thread-safe.
 */
public final class RelayLog {
  /** About how many bytes an update's place here takes in the heap. */
  private static final int PLACE_BYTES = 128;

  /** If an object has more updates than this, they are joined. */
  private static final int UPDATES_MAX = 8;

  /** One object's updates of one origin, each building on the one before. */
  private static final class Kept {
    final ArrayDeque<Shipment> updates = new ArrayDeque<>(2);
    long bytes;
  }

  /**
   * By origin, the updates that came since a peer last asked for any, in their order. Mostly every
   * datacenter has an update before anybody asks, so nothing more is done for it.
   */
  private final Map<ReplicaId, ArrayDeque<Shipment>> recent = new HashMap<>();

  /**
   * By origin, the updates that came before those: the objects in the order of their last update.
   */
  private final Map<ReplicaId, LinkedHashMap<ObjectId, Kept>> origins = new HashMap<>();

  private final Budget budget;

  public RelayLog(Budget budget) {
    this.budget = budget;
  }

  /** Keeps an update of another datacenter that was applied here. */
  public void applied(Shipment shipment) {
    if (shipment.content().isFull()) {
      return; // the kept updates then end before the state, which a reader of the log notices
    }
    recent.computeIfAbsent(shipment.origin(), o -> new ArrayDeque<>()).add(shipment);
    budget.take(bytesOf(shipment));
    if (budget.isOver()) {
      recent.keySet().forEach(this::sort);
      if (budget.isOver()) {
        origins.clear();
        budget.give(budget.used());
        budget.noteSpent();
      }
    }
  }

  /** Moves an origin's recent updates to their objects, and joins them there. */
  private void sort(ReplicaId origin) {
    ArrayDeque<Shipment> updates = recent.get(origin);
    if (updates == null || updates.isEmpty()) {
      return;
    }
    Map<ObjectId, Kept> objects =
        origins.computeIfAbsent(origin, o -> new LinkedHashMap<>(16, 0.75f, true));
    for (Shipment s = updates.poll(); s != null; s = updates.poll()) {
      budget.give(bytesOf(s));
      sort(objects.computeIfAbsent(s.object(), o -> new Kept()), s);
    }
  }

  private void sort(Kept kept, Shipment shipment) {
    if (!kept.updates.isEmpty() && kept.updates.getLast().last() < shipment.predecessor()) {
      budget.give(kept.bytes);
      kept.bytes = 0;
      kept.updates.clear();
    }
    kept.updates.add(shipment);
    add(kept, bytesOf(shipment));
    if (kept.updates.size() > UPDATES_MAX) {
      Shipment joined = kept.updates.stream().reduce(RelayLog::join).orElseThrow();
      kept.updates.clear();
      kept.updates.add(joined);
      add(kept, bytesOf(joined) - kept.bytes);
    }
  }

  private static long bytesOf(Shipment shipment) {
    return PLACE_BYTES + shipment.heapBytes();
  }

  private void add(Kept kept, long more) {
    kept.bytes += more;
    budget.take(more);
  }

  /** Drops what every datacenter has. */
  void prune(VersionVector everywhere) {
    recent.forEach(
        (origin, updates) -> {
          long number = everywhere.get(origin);
          while (!updates.isEmpty() && updates.peek().last() <= number) {
            budget.give(bytesOf(updates.poll()));
          }
        });
    recent.values().removeIf(ArrayDeque::isEmpty);
    for (Map.Entry<ReplicaId, LinkedHashMap<ObjectId, Kept>> e : origins.entrySet()) {
      long number = everywhere.get(e.getKey());
      Iterator<Kept> eldest = e.getValue().values().iterator();
      while (eldest.hasNext()) {
        Kept kept = eldest.next();
        if (kept.updates.getLast().last() > number) {
          break;
        }
        budget.give(kept.bytes);
        eldest.remove();
      }
    }
    origins.values().removeIf(Map::isEmpty);
  }

  /**
   * Whether an asking peer has all of an origin's updates of an object. Only the numbers of updates
   * tell it: where some were forgotten, the object's context may reach further.
   *
   * @param has as in {@link #missing}
   * @param state the object's state here
   */
  boolean isThere(ObjectId object, ReplicaId origin, LongPredicate has, CrdtState state) {
    Kept kept = kept(object, origin, state);
    return kept != null && has.test(kept.updates.getLast().last());
  }

  /**
   * Returns an origin's updates of an object up to its present state; null if they are not kept.
   */
  private @Nullable Kept kept(ObjectId object, ReplicaId origin, CrdtState state) {
    sort(origin);
    LinkedHashMap<ObjectId, Kept> objects = origins.get(origin);
    Kept kept = objects == null ? null : objects.get(object);
    return kept == null || kept.updates.getLast().last() < state.context().through(origin)
        ? null
        : kept;
  }

  /**
   * Returns those of an origin's updates of an object that an asking peer misses, joined; null if
   * they are not all kept.
   *
   * @param has whether the peer has an update of the origin, and all before it on the same object
   * @param state the object's state here
   */
  @Nullable Shipment missing(
      ObjectId object, ReplicaId origin, LongPredicate has, CrdtState state) {
    Kept kept = kept(object, origin, state);
    if (kept == null) {
      return null;
    }
    Shipment joined = null;
    for (Shipment s : kept.updates) {
      joined = has.test(s.last()) ? null : joined == null ? s : join(joined, s);
    }
    return joined == null || !has.test(joined.predecessor()) ? null : joined;
  }

  private static Shipment join(Shipment earlier, Shipment later) {
    return new Shipment(
        earlier.object(),
        earlier.origin(),
        earlier.predecessor(),
        earlier.needs().join(later.needs()),
        Math.max(earlier.last(), later.last()),
        earlier.updates() + later.updates(),
        0,
        earlier.content().join(later.content()));
  }

  /** Changes the budget to this many bytes; see {@link Budget#setLimit}. */
  public void setLimit(long bytes) {
    budget.setLimit(bytes);
  }

  public Budget.Usage usage() {
    return budget.usage();
  }
}
