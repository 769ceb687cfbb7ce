package io.osier.datacenter.partition;

import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.Propagation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Drops what only remembers removals, once every datacenter has had it for some time. Not
 * thread-safe.
 *
 * <p>Nothing can come back: whatever arrives later is compared with what is completely here of its
 * origin, which remembers for all objects what each one has forgotten.
 */
final class Forgetting {
  private static final long PERIOD_NANOS = 1_000_000_000;

  /** While there is much to drop. */
  private static final long BUSY_PERIOD_NANOS = 50_000_000;

  private static final int OBJECTS_MAX = 1_000;

  /**
   * Why a removed object waits.
   *
   * @param everywhereNanos since when every datacenter is known to have the removal; -1 if that is
   *     not known
   * @param made what the others had committed by then: of that something may be concurrent to the
   *     removal, and must have come before the removal can be forgotten
   */
  private record Candidate(long everywhereNanos, VersionVector made) {
    static final Candidate FOR_OTHERS = new Candidate(-1, VersionVector.EMPTY);
  }

  private final ObjectStore store;
  private final EffectsBuilder effects;
  private final VisibleChanges changes;
  private final long graceNanos;

  /** Objects that may be dropped. */
  private final Map<ObjectId, Candidate> candidates = new LinkedHashMap<>();

  private long nextNanos = Long.MAX_VALUE;

  Forgetting(ObjectStore store, EffectsBuilder effects, VisibleChanges changes, int forgetMillis) {
    this.store = store;
    this.effects = effects;
    this.changes = changes;
    this.graceNanos = forgetMillis * 1_000_000L;
  }

  /** Hears of every new state. */
  void changed(ObjectId object, Causal state, long nowNanos) {
    if (state.isBottom() && state.isSpent()) {
      add(object, nowNanos);
    }
  }

  /** Hears of an object that may be one. */
  void add(ObjectId object, long nowNanos) {
    candidates.put(object, Candidate.FOR_OTHERS);
    if (nextNanos == Long.MAX_VALUE) {
      nextNanos = nowNanos + PERIOD_NANOS;
    }
  }

  /** When {@link #sweep} has something to do; Long.MAX_VALUE if never. */
  long nextNanos() {
    return nextNanos;
  }

  /**
   * Drops what can be dropped.
   *
   * @param past hears of it
   */
  void sweep(Propagation propagation, Past past, long nowNanos) {
    if (nowNanos < nextNanos) {
      return;
    }
    List<ObjectId> some = new ArrayList<>();
    for (ObjectId object : candidates.keySet()) {
      if (some.size() == OBJECTS_MAX) {
        break;
      }
      some.add(object);
    }
    int moved = 0;
    for (ObjectId object : some) {
      Candidate candidate = candidates.remove(object);
      Causal state = store.get(object);
      if (state == null || !state.isSpent()) {
        continue;
      }
      if (!propagation.isEverywhere(state.context()) || !propagation.areCurrent(candidate.made)) {
        candidates.put(object, Candidate.FOR_OTHERS); // at the end: the next sweep looks at others
      } else if (candidate.everywhereNanos < 0) {
        candidates.put(object, new Candidate(nowNanos, propagation.committedElsewhere()));
        moved++;
      } else if (nowNanos - candidate.everywhereNanos < graceNanos
          || !candidate.made.isAtMost(propagation.here())
          || !drop(object, state)) {
        candidates.put(object, candidate);
      } else {
        effects.forgotten(object);
        past.dropped(object);
        moved++;
      }
    }
    boolean busy = moved > 0 && some.size() == OBJECTS_MAX;
    nextNanos =
        candidates.isEmpty()
            ? Long.MAX_VALUE
            : nowNanos + (busy ? BUSY_PERIOD_NANOS : PERIOD_NANOS);
  }

  private boolean drop(ObjectId object, Causal state) {
    changes.forgot(state.context().toVersionVector()); // first: others look at once
    return store.drop(object);
  }

  /** How many removed objects wait. */
  int candidates() {
    return candidates.size();
  }
}
