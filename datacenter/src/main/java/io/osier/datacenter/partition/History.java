package io.osier.datacenter.partition;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.datacenter.store.ObjectStore;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The past of a {@code causal} partition, as far as it may be read: by open snapshots, and for a
 * time by everybody.
 *
 * <p>Whatever becomes visible (a local commit, or a set of admitted cuts) is one <em>step</em>.
 * Steps are numbered by the count of admissions plus the last commit number, so every commit number
 * names a step. Of each key that a step changed, what it held before is kept with the step's
 * number: the value at a step is the oldest one that was replaced after it, or the present one.
 *
 * <p>Values are immutable and share their parts, so keeping one costs about what the update
 * changed. An old value that only open snapshots need is kept once for all of them. Not
 * thread-safe.
 */
final class History {
  /** Most former values that are kept for those who may ask. */
  static final int VERSIONS_MAX = 100_000;

  /**
   * The steps between two admissions.
   *
   * @param index how many admissions there were
   * @param first the first step
   * @param others what was visible of the others
   * @param committed the last commit number before it
   */
  private record Era(
      long index, long first, VersionVector others, long committed, long startNanos) {}

  /**
   * A former value.
   *
   * @param until the step that replaced it
   */
  private record Former(Key key, List<Causal> states, long until, long replacedNanos) {}

  private final ObjectStore store;
  private final long retainNanos;
  private final ArrayDeque<Era> eras = new ArrayDeque<>();
  private final Map<Key, ArrayDeque<Former>> chains = new HashMap<>();
  private final ArrayDeque<Former> byAge = new ArrayDeque<>();

  /** Kept for open snapshots alone. */
  private List<Former> pinned = new ArrayList<>();

  private final TreeMap<Long, Integer> open = new TreeMap<>();
  private long committed;

  /** Steps before this one cannot be read any more, but by the snapshots that are open. */
  private long horizon;

  History(
      ObjectStore store, long retainNanos, VersionVector others, long committed, long startNanos) {
    this.store = store;
    this.retainNanos = retainNanos;
    this.committed = committed;
    this.horizon = committed;
    eras.add(new Era(0, committed, others, committed, startNanos));
  }

  /** The present step. */
  long step() {
    return eras.getLast().index + committed;
  }

  /** The step that a local commit will be. */
  long stepOfCommit(long number) {
    return eras.getLast().index + number;
  }

  /** The step that the next admission will be. */
  long stepOfAdmission() {
    return step() + 1;
  }

  /** Keeps what a key holds, before a step replaces it. */
  void replaced(Key key, long byStep, long nowNanos) {
    if (retainNanos == 0 && open.isEmpty()) {
      horizon = byStep;
      return;
    }
    ArrayDeque<Former> chain = chains.get(key);
    if (chain == null) {
      chain = new ArrayDeque<>(2);
      chains.put(key, chain);
    } else if (!chain.isEmpty() && chain.getLast().until == byStep) {
      return; // changed again in the same step
    }
    Former former = new Former(key, store.get(key), byStep, nowNanos);
    chain.add(former);
    byAge.add(former);
  }

  /** A local commit is done. */
  void committed(long number) {
    committed = number;
  }

  /** An admission is done. */
  void admitted(VersionVector others, long nowNanos) {
    Era last = eras.getLast();
    long index = last.index + 1;
    eras.add(new Era(index, index + committed, others, committed, nowNanos));
  }

  /** What a key held at a step. */
  List<Causal> at(Key key, long step) {
    ArrayDeque<Former> chain = chains.get(key);
    if (chain != null) {
      for (Former former : chain) {
        if (former.until > step) {
          return former.states;
        }
      }
    }
    return store.get(key);
  }

  /** Holds a step until {@link #close}. */
  void open(long step) {
    open.merge(step, 1, Integer::sum);
  }

  /** Lets a step go that was held. */
  void close(long step) {
    if (open.merge(step, -1, Integer::sum) == 0) {
      open.remove(step);
      List<Former> kept = new ArrayList<>();
      for (Former former : pinned) {
        if (isPinned(former)) {
          kept.add(former);
        } else {
          remove(former);
        }
      }
      pinned = kept;
    }
  }

  private boolean isPinned(Former former) {
    Long newest = open.lowerKey(former.until);
    if (newest == null) {
      return false;
    }
    long from = 0;
    for (Former other : chains.get(former.key)) {
      if (other.until < former.until) {
        from = other.until;
      }
    }
    return newest >= from;
  }

  private void remove(Former former) {
    ArrayDeque<Former> chain = chains.get(former.key);
    for (Iterator<Former> it = chain.iterator(); it.hasNext(); ) {
      if (it.next() == former) {
        it.remove();
        break;
      }
    }
    if (chain.isEmpty()) {
      chains.remove(former.key);
    }
  }

  /** Forgets what is older than is to be kept. */
  void expire(long nowNanos) {
    long oldest = nowNanos - retainNanos;
    while (!byAge.isEmpty()
        && (byAge.peek().replacedNanos < oldest || byAge.size() > VERSIONS_MAX)) {
      Former former = byAge.poll();
      horizon = Math.max(horizon, former.until);
      if (isPinned(former)) {
        pinned.add(former);
      } else {
        remove(former);
      }
    }
    while (eras.size() > 1) {
      Iterator<Era> it = eras.iterator();
      it.next();
      Era second = it.next();
      if (second.first > horizon && second.startNanos >= oldest) {
        break;
      }
      horizon = Math.max(horizon, second.first);
      eras.poll();
    }
  }

  /** When {@link #expire} has something to do; Long.MAX_VALUE if never. */
  long nextNanos() {
    return byAge.isEmpty() ? Long.MAX_VALUE : byAge.peek().replacedNanos + retainNanos + 1;
  }

  /**
   * The oldest step that shows all that a clock contains, which must be visible here.
   *
   * @param self the clock's entry of this datacenter
   * @param others its other entries
   * @throws OsierException SNAPSHOT_TOO_OLD if there may have been an older one that is forgotten
   */
  long oldestStep(long self, VersionVector others) {
    Era era = null;
    long byCommit = -1;
    for (Era e : eras) {
      if (era == null && others.isAtMost(e.others)) {
        era = e;
      }
      if (e.committed < self || byCommit < 0) {
        byCommit = e.index + Math.max(self, e.committed);
      }
    }
    if (era == null) {
      throw new IllegalArgumentException("the clock is not visible here");
    }
    long step = Math.max(era.first, byCommit);
    boolean exact = stepClock(step).equals(others) && committedAt(step) == self;
    if (step < horizon || (step == horizon && !exact)) {
      throw new OsierException(
          ErrorCode.SNAPSHOT_TOO_OLD,
          "the past is kept for "
              + retainNanos / 1_000_000
              + " ms, or "
              + VERSIONS_MAX
              + " changes, and the clock is older; the keyspace's setting history says how long");
    }
    return step;
  }

  private Era eraOf(long step) {
    Era found = eras.getFirst();
    for (Era e : eras) {
      if (e.first <= step) {
        found = e;
      }
    }
    return found;
  }

  /** What was visible of the others at a step. */
  VersionVector stepClock(long step) {
    return eraOf(step).others;
  }

  /** The last commit number at a step. */
  long committedAt(long step) {
    return step - eraOf(step).index;
  }

  /** How many former values are kept. */
  int versions() {
    return byAge.size() + pinned.size();
  }
}
