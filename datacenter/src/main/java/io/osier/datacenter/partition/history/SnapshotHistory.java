package io.osier.datacenter.partition.history;

import static java.util.Objects.requireNonNull;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.core.memory.Budget;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.StoredKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

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
 * changed, as long as the next one is here, too. Of each key that is certain of all but the newest
 * value that is kept: the present one may be packed at any time, or go to the disk. So that one
 * counts whole, and any other that was not made into the next, since the store had let go of it. An
 * old value that only open snapshots need is kept once for all of them. When the budget is spent
 * the oldest values go before their time, but for those that open snapshots need. Not thread-safe.
 */
public final class SnapshotHistory implements VersionHistory {
  /** What is kept of an object that was dropped, about, in bytes; its key is a former value's. */
  private static final long DROPPED_BYTES = 80;

  /** What a version does not share with the next one besides what changed, about, at most. */
  private static final long STRUCTURE_BYTES = 1_200;

  private final ObjectStore store;
  private long retainNanos;
  private final Budget budget;

  private final Eras eras;

  /** The former values of a key by the step that replaced each. */
  private final Map<Key, TreeMap<Long, FormerValue>> chains = new HashMap<>();

  /** Objects that are not in the store any more, of whose keys there are former values. */
  private final TreeSet<ObjectId> dropped = new TreeSet<>();

  private final ArrayDeque<FormerValue> byAge = new ArrayDeque<>();

  /** What is kept for open snapshots alone, each by the newest one that needs it. */
  private final Map<Long, List<FormerValue>> pinned = new HashMap<>();

  private int pinnedCount;

  private final HeldEntries held = new HeldEntries();

  private final TreeMap<Long, Integer> open = new TreeMap<>();
  private long committed;

  /** Steps before this one cannot be read any more, but by the snapshots that are open. */
  private long horizon;

  public SnapshotHistory(
      ObjectStore store,
      long retainNanos,
      Budget budget,
      VersionVector others,
      long committed,
      long startNanos) {
    this.store = store;
    this.budget = budget;
    this.retainNanos = retainNanos;
    this.committed = committed;
    this.horizon = committed;
    this.eras = new Eras(others, committed, startNanos);
  }

  @Override
  public void configure(long nanos, long bytesMax) {
    retainNanos = nanos;
    budget.setLimit(bytesMax);
  }

  /** The present step. */
  public long step() {
    return eras.admissions() + committed;
  }

  @Override
  public void committing(
      ObjectId object,
      CrdtState before,
      CrdtState delta,
      CrdtState after,
      long first,
      long nowNanos) {
    // A clock may end with any of its numbers, and contains all of it.
    replaced(object, before, delta, after, eras.admissions() + first, nowNanos);
  }

  @Override
  public void admitting(
      ObjectId object, CrdtState before, CrdtState delta, CrdtState after, long nowNanos) {
    replaced(object, before, delta, after, step() + 1, nowNanos);
  }

  /**
   * What keeping an object's former state takes in the heap, about, in bytes: what the change
   * replaced in it, and the part of its structure that the new one does not share.
   */
  private static long changedBytes(@Nullable CrdtState before, CrdtState delta, CrdtState after) {
    if (before == null) {
      return 0;
    }
    long whole = before.heapBytes();
    long replaced = Math.max(delta.heapBytes(), whole - after.heapBytes());
    return Math.min(whole, replaced + Math.min(STRUCTURE_BYTES, whole / 4));
  }

  /** Keeps what a key holds, before a step replaces one of its objects. */
  private void replaced(
      ObjectId object,
      CrdtState before,
      CrdtState delta,
      CrdtState after,
      long byStep,
      long nowNanos) {
    if (retainNanos == 0 && open.isEmpty()) {
      horizon = byStep;
      return;
    }
    Key key = object.key();
    TreeMap<Long, FormerValue> chain = chains.computeIfAbsent(key, k -> new TreeMap<>());
    Map.Entry<Long, FormerValue> newest = chain.lastEntry();
    FormerValue last = newest == null ? null : newest.getValue();
    if (last != null && last.until == byStep) { // changed again in the same step
      last.changed(changedBytes(last.of(object.type()), delta, after), after);
      last.recharge(budget);
      return;
    }
    if (last != null && last.isMadeInto(before)) {
      last.sharesWithNext();
      last.recharge(budget);
    }
    FormerValue former = new FormerValue(key, states(object, before), byStep, nowNanos);
    former.changed(changedBytes(former.of(object.type()), delta, after), after);
    chain.put(byStep, former);
    held.hold(former.states, nowNanos);
    byAge.add(former);
    former.recharge(budget);
    while (budget.isOver() && !byAge.isEmpty()) {
      budget.noteSpent();
      retire(byAge.poll());
    }
  }

  /** What a key holds, with the object as it is given: what is packed is not unpacked for it. */
  private List<CrdtState> states(ObjectId object, CrdtState before) {
    StoredKey stored = store.stored(object.key());
    if (stored.isOnly(object.type())) {
      return List.of(before);
    }
    return stored.states().stream().map(s -> s.type() == object.type() ? before : s).toList();
  }

  /** Keeps a value for snapshots that are open alone, or no longer. */
  private void retire(FormerValue former) {
    horizon = Math.max(horizon, former.until);
    pinOrRemove(former);
  }

  @Override
  public void committed(long number) {
    committed = number;
  }

  @Override
  public void admitted(VersionVector others, long nowNanos) {
    eras.begin(others, committed, nowNanos);
  }

  /**
   * What a key held at a step.
   *
   * @throws OsierException SNAPSHOT_TOO_OLD if that is not kept; see {@link HeldEntries}
   */
  public List<CrdtState> at(Key key, long step) {
    TreeMap<Long, FormerValue> chain = chains.get(key);
    Map.Entry<Long, FormerValue> former = chain == null ? null : chain.higherEntry(step);
    if (former != null) {
      former.getValue().states.forEach(HeldEntries::checkSame);
      return former.getValue().states;
    }
    return store.get(key);
  }

  /** Keeps a value as it is that an open snapshot has shown, until {@link #letGo}. */
  public void keep(CrdtState shown, long nowNanos) {
    held.hold(List.of(shown), nowNanos);
  }

  /** Such a value will not be read any more. */
  public void letGo(CrdtState shown) {
    held.release(List.of(shown));
  }

  /** Holds a step until {@link #close}. */
  public void open(long step) {
    open.merge(step, 1, Integer::sum);
  }

  /** Lets a step go that was held. */
  public void close(long step) {
    if (open.merge(step, -1, Integer::sum) == 0) {
      open.remove(step);
      List<FormerValue> held = pinned.remove(step);
      if (held != null) {
        pinnedCount -= held.size();
        held.forEach(this::pinOrRemove);
      }
    }
  }

  /** Keeps a former value for the newest open snapshot that shows it, or no longer. */
  private void pinOrRemove(FormerValue former) {
    TreeMap<Long, FormerValue> chain =
        requireNonNull(chains.get(former.key), "what is kept is in its key's chain");
    Long newest = open.lowerKey(former.until);
    Long from = chain.lowerKey(former.until);
    if (newest != null && (from == null || newest >= from)) {
      pinned.computeIfAbsent(newest, s -> new ArrayList<>()).add(former);
      pinnedCount++;
      return;
    }
    chain.remove(former.until);
    held.release(former.states);
    former.discharge(budget);
    if (from != null) {
      FormerValue earlier = requireNonNull(chain.get(from), "it was found there");
      earlier.outlives(former);
      earlier.recharge(budget);
    }
    if (chain.isEmpty()) {
      chains.remove(former.key);
      forgetDropped(former.key);
    }
  }

  @Override
  public void dropped(ObjectId object) {
    if (chains.containsKey(object.key()) && dropped.add(object)) {
      budget.take(DROPPED_BYTES);
    }
  }

  private void forgetDropped(Key key) {
    if (dropped.isEmpty()) {
      return;
    }
    for (CrdtType type : CrdtType.values()) {
      if (dropped.remove(new ObjectId(key, type))) {
        budget.give(DROPPED_BYTES);
      }
    }
  }

  /**
   * Objects in their order of which the store may not tell any more, and snapshots may.
   *
   * @param from the first key, inclusive; empty for the beginning
   * @param to the key before which they end; empty for the end
   * @param limit at most so many
   */
  public List<ObjectId> dropped(Optional<Key> from, Optional<Key> to, int limit) {
    List<ObjectId> some = new ArrayList<>();
    CrdtType first = CrdtType.values()[0];
    for (ObjectId object :
        from.isEmpty() ? dropped : dropped.tailSet(new ObjectId(from.get(), first), true)) {
      boolean behind = to.isPresent() && object.key().compareTo(to.get()) >= 0;
      if (behind || some.size() == limit) {
        break;
      }
      some.add(object);
    }
    return some;
  }

  @Override
  public void expire(long nowNanos) {
    held.tick(nowNanos);
    long oldest = nowNanos - retainNanos;
    while (!byAge.isEmpty() && byAge.peek().replacedNanos < oldest) {
      retire(byAge.poll());
    }
    horizon = eras.forget(horizon, oldest);
  }

  @Override
  public long nextNanos() {
    long oldest = byAge.isEmpty() ? Long.MAX_VALUE : byAge.peek().replacedNanos + retainNanos + 1;
    return Math.min(oldest, held.dueNanos());
  }

  /**
   * The oldest step that shows all that a clock contains, which must be visible here.
   *
   * @throws OsierException SNAPSHOT_TOO_OLD if there may have been an older one that is forgotten
   */
  public long oldestStep(long self, VersionVector others) {
    long step = eras.oldestStep(self, others);
    boolean exact = stepClock(step).equals(others) && committedAt(step) == self;
    if (step < horizon || (step == horizon && !exact)) {
      throw new OsierException(
          ErrorCode.SNAPSHOT_TOO_OLD,
          "the past is kept for "
              + retainNanos / 1_000_000
              + " ms, or as far as "
              + budget.limit()
              + " bytes go, and the clock is older; the keyspace's setting history says how long,"
              + " and osier.memory.history how much");
    }
    return step;
  }

  /** What was visible of the others at a step. */
  public VersionVector stepClock(long step) {
    return eras.clock(step);
  }

  /** The last commit number at a step. */
  public long committedAt(long step) {
    return step - eras.admissions(step);
  }

  /**
   * The oldest step that is held open, where what open snapshots need takes more than there is;
   * Long.MAX_VALUE otherwise.
   */
  public long tooMuchFor() {
    return budget.isOver() && !open.isEmpty() ? open.firstKey() : Long.MAX_VALUE;
  }

  @Override
  public List<Budget.Usage> memory() {
    return List.of(budget.usage());
  }

  @Override
  public int versions() {
    return byAge.size() + pinnedCount;
  }
}
