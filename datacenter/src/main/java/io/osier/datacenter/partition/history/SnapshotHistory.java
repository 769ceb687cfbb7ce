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
 * Keeps the past of a {@code causal} partition that may still be read: by open snapshots, and for a
 * time by everybody.
 *
 * <p>Whatever becomes visible (a local commit, or a set of admitted cuts) is one <em>step</em>.
 * Steps are numbered by the count of admissions plus the last commit number, so every commit number
 * names a step. When a step changes a key, the key's former value is kept with the step's number.
 * The value at a step is the oldest one that was replaced after it, or the present one.
 *
 * <p>Values are immutable and share their parts, so keeping one costs about what the update
 * changed, as long as the next value is in memory, too. That is certain for all but the newest kept
 * value of a key: the present one may be packed at any time, or go to the disk. So the newest kept
 * value counts whole, and so does one from which the next was not made, since the store had let go
 * of it. An old value that only open snapshots need is kept once for all of them. When the budget
 * is spent, the oldest values are dropped early, except those that open snapshots need. Not
 * thread-safe.
 */
public final class SnapshotHistory implements VersionHistory {
  /**
   * What a dropped object takes in the heap, about, in bytes, besides its key, which belongs to a
   * former value.
   */
  private static final long DROPPED_BYTES = 80;

  /**
   * The most that a version's structure takes besides what changed and what it shares, about, in
   * bytes.
   */
  private static final long STRUCTURE_BYTES = 1_200;

  private final ObjectStore store;
  private long retainNanos;
  private final Budget budget;

  private final Eras eras;

  /** The former values of each key, by the step that replaced them. */
  private final Map<Key, TreeMap<Long, FormerValue>> chains = new HashMap<>();

  /** Objects that the store has dropped while former values of their keys are kept. */
  private final TreeSet<ObjectId> dropped = new TreeSet<>();

  private final ArrayDeque<FormerValue> byAge = new ArrayDeque<>();

  /** Former values kept only for open snapshots, by the newest snapshot that needs them. */
  private final Map<Long, List<FormerValue>> pinned = new HashMap<>();

  private int pinnedCount;

  private final HeldEntries held = new HeldEntries();

  private final TreeMap<Long, Integer> open = new TreeMap<>();
  private long committed;

  /** Steps before this one cannot be read any more, except by the snapshots that are open. */
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

  /** Returns the present step. */
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
    // A session's clock may end with any number of the commit, and must then contain all of it.
    replaced(object, before, delta, after, eras.admissions() + first, nowNanos);
  }

  @Override
  public void admitting(
      ObjectId object, CrdtState before, CrdtState delta, CrdtState after, long nowNanos) {
    replaced(object, before, delta, after, step() + 1, nowNanos);
  }

  /**
   * Returns what keeping an object's former state takes in the heap, about, in bytes: the parts
   * that the change replaced, and the structure that the new state does not share.
   */
  private static long changedBytes(@Nullable CrdtState before, CrdtState delta, CrdtState after) {
    if (before == null) {
      return 0;
    }
    long whole = before.heapBytes();
    long replaced = Math.max(delta.heapBytes(), whole - after.heapBytes());
    return Math.min(whole, replaced + Math.min(STRUCTURE_BYTES, whole / 4));
  }

  /** Keeps the value of a key before a step replaces one of its objects. */
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
    if (last != null && last.until == byStep) { // the same step has replaced this key already
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

  /** Returns the objects of a key, with this one as given; packed objects are not unpacked. */
  private List<CrdtState> states(ObjectId object, CrdtState before) {
    StoredKey stored = store.stored(object.key());
    if (stored.isOnly(object.type())) {
      return List.of(before);
    }
    return stored.states().stream().map(s -> s.type() == object.type() ? before : s).toList();
  }

  /** Keeps a value for open snapshots only, or drops it. */
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
   * Returns the objects of a key at a step.
   *
   * @throws OsierException SNAPSHOT_TOO_OLD if they are not kept; see {@link HeldEntries}
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

  /** Keeps a value that an open snapshot has shown as it is, until {@link #letGo}. */
  public void keep(CrdtState shown, long nowNanos) {
    held.hold(List.of(shown), nowNanos);
  }

  /** Releases a value after {@link #keep}. */
  public void letGo(CrdtState shown) {
    held.release(List.of(shown));
  }

  /** Keeps a step readable until {@link #close}. */
  public void open(long step) {
    open.merge(step, 1, Integer::sum);
  }

  /** Ends {@link #open} of a step. */
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

  /** Keeps a former value for the newest open snapshot that shows it; drops it if there is none. */
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
   * Returns objects, in their order, that the store has dropped and snapshots may still show.
   *
   * @param from the first key, inclusive; empty for the beginning
   * @param to the key before which they end; empty for the end
   * @param limit the most objects to return
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
   * Returns the oldest step that shows all that a clock contains, which must be visible here.
   *
   * @throws OsierException SNAPSHOT_TOO_OLD if an older such step may be forgotten
   */
  public long oldestStep(long self, VersionVector others) {
    long step = eras.oldestStep(self, others);
    boolean exact = stepClock(step).equals(others) && committedAt(step) == self;
    if (step < horizon || (step == horizon && !exact)) {
      throw new OsierException(
          ErrorCode.SNAPSHOT_TOO_OLD,
          "former values are kept for "
              + retainNanos / 1_000_000
              + " ms, or as far as "
              + budget.limit()
              + " bytes suffice, and the snapshot that was asked for is older; the keyspace's"
              + " setting history says how long, and osier.memory.history how much");
    }
    return step;
  }

  /** Returns the updates of other datacenters that were visible at a step. */
  public VersionVector stepClock(long step) {
    return eras.clock(step);
  }

  /** Returns the last commit number at a step. */
  public long committedAt(long step) {
    return step - eras.admissions(step);
  }

  /**
   * Returns the oldest step that is held open, if open snapshots need more heap than the budget;
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
