package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.history.VersionHistory;
import io.osier.datacenter.partition.machine.EffectsBuilder;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.Propagation;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Drops objects that only remember removals, once every datacenter has had the removals for the
 * grace period. Not thread-safe.
 *
 * <p>A dropped object does not come back through a late update: such an update is compared with the
 * version vector of its origin, which covers all that dropped objects have forgotten.
 *
 * <p>Looking at an object means unpacking it, or reading it from the disk. So an object that may be
 * dropped is a {@link Candidate} in one queue at a time, and is looked at only when its turn comes:
 *
 * <pre>
 *   toLookAt --look--> awaited: the commit of one origin that some datacenter lacks
 *       |                  |  once all have it: a look for another such commit, unless needsNoLook
 *       v                  v
 *   grace: all datacenters have the removal; with the other candidates of the same sweep
 *                          |  once the grace period is over
 *                          v
 *                       dropped, or back to awaited or grace if the object was removed anew
 * </pre>
 */
final class RemovalCollector {
  private static final long PERIOD_NANOS = 1_000_000_000;

  /** The pause between sweeps while there is much to drop. */
  private static final long BUSY_PERIOD_NANOS = 5_000_000;

  /** The most objects that one sweep looks at: a fraction of a millisecond. */
  static final int LOOKS_MAX = 100;

  /** The most candidates that one sweep moves to their next queue without a look. */
  private static final int MOVES_MAX = 10 * LOOKS_MAX;

  /** An object that may be dropped. */
  private static final class Candidate {
    static final Comparator<Candidate> BY_COMMIT = Comparator.comparingLong(c -> c.awaitedCommit);

    final ObjectId object;

    /** The commit that the candidate waits for, a number of one origin. */
    long awaitedCommit;

    /**
     * Whether every datacenter has the removal once it has {@link #awaitedCommit}; otherwise the
     * object must be looked at for what else it awaits. True if its causal context has one origin,
     * and during the grace period, until the object is removed anew.
     */
    boolean needsNoLook;

    Candidate(ObjectId object) {
      this.object = object;
    }
  }

  /**
   * Candidates whose removals every datacenter is known to have since one sweep.
   *
   * @param committedElsewhere what the other datacenters had committed by then: some of it may be
   *     concurrent to a removal, and must be here before the removal can be forgotten
   */
  private record Grace(
      long sinceNanos, VersionVector committedElsewhere, ArrayDeque<Candidate> all) {}

  private final ObjectStore store;
  private final Propagation propagation;
  private final EffectsBuilder effects;
  private final VisibleChanges changes;
  private final long graceNanos;

  /** All candidates, whichever queue they are in. */
  private final Map<ObjectId, Candidate> candidates = new HashMap<>();

  /** Candidates that must be looked at to know what they wait for. */
  private final ArrayDeque<Candidate> toLookAt = new ArrayDeque<>();

  /** Candidates that some datacenter lacks, by origin, the lowest commit first. */
  private final Map<ReplicaId, PriorityQueue<Candidate>> awaited = new TreeMap<>();

  /** Candidates that everybody has, the longest known first. */
  private final ArrayDeque<Grace> grace = new ArrayDeque<>();

  // In this sweep: objects looked at, candidates moved without a look, and steps of progress.
  private int looks;
  private int moves;
  private int progress;

  private long nextNanos = Long.MAX_VALUE;

  RemovalCollector(
      ObjectStore store,
      Propagation propagation,
      EffectsBuilder effects,
      VisibleChanges changes,
      int forgetMillis) {
    this.store = store;
    this.propagation = propagation;
    this.effects = effects;
    this.changes = changes;
    this.graceNanos = forgetMillis * 1_000_000L;
  }

  /** Takes note of an object's new state. */
  void changed(ObjectId object, CrdtState state, long nowNanos) {
    if (!state.isBottom() || !state.isSpent()) {
      return;
    }
    Candidate known = candidates.get(object);
    if (known != null) {
      known.needsNoLook = false;
      return;
    }
    Candidate candidate = candidate(object, nowNanos);
    if (!awaitsCommit(candidate, state.context())) {
      toLookAt.add(candidate);
    }
  }

  void add(ObjectId object, long nowNanos) {
    if (!candidates.containsKey(object)) {
      toLookAt.add(candidate(object, nowNanos));
    }
  }

  private Candidate candidate(ObjectId object, long nowNanos) {
    Candidate candidate = new Candidate(object);
    candidates.put(object, candidate);
    if (nextNanos == Long.MAX_VALUE) {
      nextNanos = nowNanos + PERIOD_NANOS;
    }
    return candidate;
  }

  /** Returns when {@link #sweep} has something to do; Long.MAX_VALUE if never. */
  long nextNanos() {
    return nextNanos;
  }

  /**
   * Drops the objects whose time has come.
   *
   * @param past is told of each dropped object
   */
  void sweep(VersionHistory past, long nowNanos) {
    if (nowNanos < nextNanos) {
      return;
    }
    looks = 0;
    moves = 0;
    progress = 0;
    Grace now = new Grace(nowNanos, propagation.status().committedElsewhere(), new ArrayDeque<>());
    dropDue(past, now);
    moveOn(now);
    if (!now.all.isEmpty()) {
      grace.add(now);
    }
    boolean busy = progress > 0 && !isWithinLimits();
    nextNanos =
        candidates.isEmpty()
            ? Long.MAX_VALUE
            : nowNanos + (busy ? BUSY_PERIOD_NANOS : PERIOD_NANOS);
  }

  private boolean isWithinLimits() {
    return looks < LOOKS_MAX && moves < MOVES_MAX;
  }

  // ---------------------------------------------------------------- commits that are awaited

  /**
   * Lets a candidate wait for a commit that some datacenter lacks; false if there is no such
   * commit.
   */
  private boolean awaitsCommit(Candidate candidate, CausalContext context) {
    for (int i = 0; i < context.size(); i++) {
      ReplicaId origin = context.replica(i);
      long last = context.last(origin);
      if (propagation.status().everywhere(origin) < last) {
        candidate.awaitedCommit = last;
        // With several origins, a datacenter that has one commit may have begun anew and lost
        // another.
        candidate.needsNoLook = context.size() == 1;
        awaited
            .computeIfAbsent(origin, o -> new PriorityQueue<>(Candidate.BY_COMMIT))
            .add(candidate);
        return true;
      }
    }
    return false;
  }

  /** Moves candidates on whose awaited commits every datacenter has by now. */
  private void moveOn(Grace now) {
    for (Candidate next; isWithinLimits() && (next = toLookAt.poll()) != null; ) {
      lookAndMoveOn(next, now);
    }
    for (ReplicaId origin : List.copyOf(awaited.keySet())) { // lookAndMoveOn() may add one
      PriorityQueue<Candidate> queue = requireNonNull(awaited.get(origin), "it was there");
      long has = propagation.status().everywhere(origin);
      while (isWithinLimits() && !queue.isEmpty() && queue.peek().awaitedCommit <= has) {
        Candidate next = queue.remove();
        if (next.needsNoLook) {
          moves++;
          beginGrace(next, now);
        } else {
          lookAndMoveOn(next, now);
        }
      }
      if (queue.isEmpty()) {
        awaited.remove(origin);
      }
    }
  }

  private void lookAndMoveOn(Candidate candidate, Grace now) {
    CrdtState state = lookAt(candidate);
    if (state != null && !awaitsCommit(candidate, state.context())) {
      beginGrace(candidate, now);
    }
  }

  private void beginGrace(Candidate candidate, Grace now) {
    candidate.needsNoLook = true;
    now.all.add(candidate);
    progress++;
  }

  /**
   * Looks at a candidate's object; null if it need not be dropped any more, or cannot be read: then
   * it is no candidate any longer.
   */
  private @Nullable CrdtState lookAt(Candidate candidate) {
    looks++;
    CrdtState state = store.getUndamaged(candidate.object);
    if (state != null && state.isSpent()) {
      return state;
    }
    candidates.remove(candidate.object);
    progress++;
    return null;
  }

  // ---------------------------------------------------------------- removals that everybody has

  private void dropDue(VersionHistory past, Grace now) {
    List<Grace> refused = new ArrayList<>();
    for (Iterator<Grace> all = grace.iterator(); all.hasNext() && isWithinLimits(); ) {
      Grace next = all.next();
      if (now.sinceNanos - next.sinceNanos < graceNanos) {
        break;
      }
      boolean isCurrent = propagation.status().areCurrent(next.committedElsewhere);
      if (isCurrent && !next.committedElsewhere.isAtMost(propagation.here())) {
        continue;
      }
      Grace again = new Grace(next.sinceNanos, next.committedElsewhere, new ArrayDeque<>());
      for (Candidate one; isWithinLimits() && (one = next.all.poll()) != null; ) {
        drop(one, isCurrent, past, now, again);
      }
      if (!again.all.isEmpty()) {
        refused.add(again);
      }
      if (next.all.isEmpty()) {
        all.remove();
      }
    }
    grace.addAll(refused); // at the end: the next sweep tries others first
  }

  /**
   * Drops an object whose time has come.
   *
   * @param isCurrent whether no datacenter has begun anew since everybody had the removal
   * @param now takes the candidate if it starts again and everybody has it
   * @param again takes the candidate if the store cannot drop its object yet
   */
  private void drop(
      Candidate candidate, boolean isCurrent, VersionHistory past, Grace now, Grace again) {
    CrdtState state = lookAt(candidate);
    if (state == null || awaitsCommit(candidate, state.context())) {
      return;
    }
    if (!candidate.needsNoLook || !isCurrent) {
      beginGrace(candidate, now);
      return;
    }
    changes.forgot(state.context().toVersionVector()); // before the drop
    if (!store.drop(candidate.object)) {
      again.all.add(candidate);
      return;
    }
    candidates.remove(candidate.object);
    effects.forgotten(candidate.object);
    past.dropped(candidate.object);
    progress++;
  }

  /** Returns how many removed objects wait to be dropped. */
  int candidates() {
    return candidates.size();
  }
}
