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
 * Drops what only remembers removals, once every datacenter has had it for some time. Not
 * thread-safe.
 *
 * <p>Nothing can come back: whatever arrives later is compared with what is completely here of its
 * origin, which remembers for all objects what each one has forgotten.
 *
 * <p>To look at an object means to unpack it, or to read it from the disk. So each waits in the
 * order in which its time comes, and is not looked at before: first for a commit of an origin that
 * somebody lacks, as often as there is another one; then, together with what came to be everywhere
 * in the same sweep, for the time that everybody must have had it. It waits at one place at a time,
 * also if it is removed anew, and then begins anew when its turn comes.
 */
final class RemovalCollector {
  private static final long PERIOD_NANOS = 1_000_000_000;

  /** While there is much to drop. */
  private static final long BUSY_PERIOD_NANOS = 5_000_000;

  /** Most objects that are looked at in one go: a fraction of a millisecond. */
  static final int LOOKS_MAX = 100;

  /** Most that go on to the next place without a look. */
  private static final int MOVES_MAX = 10 * LOOKS_MAX;

  /** An object that may be dropped. */
  private static final class Candidate {
    static final Comparator<Candidate> BY_NUMBER = Comparator.comparingLong(c -> c.number);

    final ObjectId object;

    /** The commit for which it waits, of one origin. */
    long number;

    /**
     * Whether what it waits for is all that it has to: it must be looked at otherwise. So it is
     * with one origin alone, and once everybody has it, until it is removed anew.
     */
    boolean isAll;

    Candidate(ObjectId object) {
      this.object = object;
    }
  }

  /**
   * What every datacenter is known to have since a time.
   *
   * @param made what the others had committed by then: of that something may be concurrent to a
   *     removal, and must have come before the removal can be forgotten
   */
  private record Everywhere(long sinceNanos, VersionVector made, ArrayDeque<Candidate> all) {}

  private final ObjectStore store;
  private final Propagation propagation;
  private final EffectsBuilder effects;
  private final VisibleChanges changes;
  private final long graceNanos;

  /** All of them, wherever they wait. */
  private final Map<ObjectId, Candidate> candidates = new HashMap<>();

  /** Those of which it is not known for what they wait. */
  private final ArrayDeque<Candidate> unknown = new ArrayDeque<>();

  /** Those that somebody lacks, by an origin, the first commit first. */
  private final Map<ReplicaId, PriorityQueue<Candidate>> lacking = new TreeMap<>();

  /** Those that everybody has, the longest known first. */
  private final ArrayDeque<Everywhere> everywhere = new ArrayDeque<>();

  // Of one sweep: how many were looked at, how many went on without, and how much that was good
  // for.
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

  /** Hears of every new state. */
  void changed(ObjectId object, CrdtState state, long nowNanos) {
    if (!state.isBottom() || !state.isSpent()) {
      return;
    }
    Candidate known = candidates.get(object);
    if (known != null) {
      known.isAll = false;
      return;
    }
    Candidate candidate = candidate(object, nowNanos);
    if (!waits(candidate, state.context())) {
      unknown.add(candidate);
    }
  }

  void add(ObjectId object, long nowNanos) {
    if (!candidates.containsKey(object)) {
      unknown.add(candidate(object, nowNanos));
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

  /** When {@link #sweep} has something to do; Long.MAX_VALUE if never. */
  long nextNanos() {
    return nextNanos;
  }

  /**
   * Drops what can be dropped.
   *
   * @param past hears of it
   */
  void sweep(VersionHistory past, long nowNanos) {
    if (nowNanos < nextNanos) {
      return;
    }
    looks = 0;
    moves = 0;
    progress = 0;
    Everywhere now =
        new Everywhere(nowNanos, propagation.status().committedElsewhere(), new ArrayDeque<>());
    dropDue(past, now);
    goOn(now);
    if (!now.all.isEmpty()) {
      everywhere.add(now);
    }
    boolean busy = progress > 0 && !mayGoOn();
    nextNanos =
        candidates.isEmpty()
            ? Long.MAX_VALUE
            : nowNanos + (busy ? BUSY_PERIOD_NANOS : PERIOD_NANOS);
  }

  private boolean mayGoOn() {
    return looks < LOOKS_MAX && moves < MOVES_MAX;
  }

  // ---------------------------------------------------------------- what somebody lacks

  /** Has it wait for a commit that somebody lacks; false if there is none. */
  private boolean waits(Candidate candidate, CausalContext context) {
    for (int i = 0; i < context.size(); i++) {
      ReplicaId origin = context.replica(i);
      long last = context.last(origin);
      if (propagation.status().everywhere(origin) < last) {
        candidate.number = last;
        // With several, who has one may have lost another by then.
        candidate.isAll = context.size() == 1;
        lacking
            .computeIfAbsent(origin, o -> new PriorityQueue<>(Candidate.BY_NUMBER))
            .add(candidate);
        return true;
      }
    }
    return false;
  }

  /** Sees what has come to be everywhere. */
  private void goOn(Everywhere now) {
    for (Candidate next; mayGoOn() && (next = unknown.poll()) != null; ) {
      look(next, now);
    }
    for (ReplicaId origin : List.copyOf(lacking.keySet())) { // one more may wait for another one
      PriorityQueue<Candidate> queue = requireNonNull(lacking.get(origin), "it was there");
      long has = propagation.status().everywhere(origin);
      while (mayGoOn() && !queue.isEmpty() && queue.peek().number <= has) {
        Candidate next = queue.remove();
        if (next.isAll) {
          moves++;
          isEverywhere(next, now);
        } else {
          look(next, now);
        }
      }
      if (queue.isEmpty()) {
        lacking.remove(origin);
      }
    }
  }

  private void look(Candidate candidate, Everywhere now) {
    CrdtState state = spent(candidate);
    if (state != null && !waits(candidate, state.context())) {
      isEverywhere(candidate, now);
    }
  }

  private void isEverywhere(Candidate candidate, Everywhere now) {
    candidate.isAll = true;
    now.all.add(candidate);
    progress++;
  }

  /** Looks at it; null if it need not be dropped any more, or cannot be read: it is none then. */
  private @Nullable CrdtState spent(Candidate candidate) {
    looks++;
    CrdtState state = store.getUndamaged(candidate.object);
    if (state != null && state.isSpent()) {
      return state;
    }
    candidates.remove(candidate.object);
    progress++;
    return null;
  }

  // ---------------------------------------------------------------- what everybody has

  private void dropDue(VersionHistory past, Everywhere now) {
    List<Everywhere> refused = new ArrayList<>();
    for (Iterator<Everywhere> all = everywhere.iterator(); all.hasNext() && mayGoOn(); ) {
      Everywhere next = all.next();
      if (now.sinceNanos - next.sinceNanos < graceNanos) {
        break;
      }
      boolean isCurrent = propagation.status().areCurrent(next.made);
      if (isCurrent && !next.made.isAtMost(propagation.here())) {
        continue;
      }
      Everywhere again = new Everywhere(next.sinceNanos, next.made, new ArrayDeque<>());
      for (Candidate one; mayGoOn() && (one = next.all.poll()) != null; ) {
        drop(one, isCurrent, past, now, again);
      }
      if (!again.all.isEmpty()) {
        refused.add(again);
      }
      if (next.all.isEmpty()) {
        all.remove();
      }
    }
    everywhere.addAll(refused); // at the end: the next sweep looks at others
  }

  /**
   * Drops one whose time has come.
   *
   * @param isCurrent whether nobody has begun anew since everybody had it
   * @param now takes it where it begins anew, and everybody has it
   * @param again takes it where the store cannot drop it yet
   */
  private void drop(
      Candidate candidate,
      boolean isCurrent,
      VersionHistory past,
      Everywhere now,
      Everywhere again) {
    CrdtState state = spent(candidate);
    if (state == null || waits(candidate, state.context())) {
      return;
    }
    if (!candidate.isAll || !isCurrent) {
      isEverywhere(candidate, now);
      return;
    }
    changes.forgot(state.context().toVersionVector()); // first: others look at once
    if (!store.drop(candidate.object)) {
      again.all.add(candidate);
      return;
    }
    candidates.remove(candidate.object);
    effects.forgotten(candidate.object);
    past.dropped(candidate.object);
    progress++;
  }

  /** How many removed objects wait. */
  int candidates() {
    return candidates.size();
  }
}
