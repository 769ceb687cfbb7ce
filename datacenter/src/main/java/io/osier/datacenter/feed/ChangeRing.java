package io.osier.datacenter.feed;

import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.core.memory.Budget;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.partition.machine.Effects;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The latest changes of one partition, in the order in which they became visible, within a budget
 * of bytes: the oldest go when it is spent. The partition only adds to it, whoever watches, and
 * looks up the keys of what it adds among those that are watched by themselves, which take at most
 * half of the budget. Where only such are watched no changes are kept at all. Thread-safe; under
 * its lock is nobody else's code.
 */
public final class ChangeRing {
  /** What a change takes in the heap besides its key, about, in bytes. */
  private static final long CHANGE_BYTES = 72;

  /** What a batch takes besides its changes. */
  private static final long BATCH_BYTES = 160;

  /**
   * Changes that became visible with one batch.
   *
   * @param start how many changes there were before
   * @param before what was complete before them
   * @param farBefore nothing that was visible before them was beyond this
   */
  record Batch(
      long start,
      List<Effects.Change> changes,
      VersionVector before,
      VersionVector farBefore,
      long bytes) {
    long end() {
      return start + changes.size();
    }
  }

  private final Runnable signal;
  private final Budget budget;
  private final TreeMap<Long, Batch> batches = new TreeMap<>();
  private final WatchedKeys keys;

  /** How many wait for whatever changes. */
  private int walkers;

  /** Whether something has come for which some of them waited. */
  private boolean moved;

  private long life;
  private volatile boolean begun;

  /** Who hear of all changes at once; few, and written under this one's lock. */
  private volatile List<ChangeListener> listeners = List.of();

  /** Whether changes are kept, for those who watch more than one key. */
  private boolean keeps;

  private long end;
  private VersionVector here = VersionVector.EMPTY;
  private VersionVector far = VersionVector.EMPTY;

  /**
   * @param bytesMax what the changes may take in the heap
   * @param signal is run when somebody waits for what has come; must not wait
   */
  ChangeRing(long bytesMax, Runnable signal) {
    this.budget = new Budget("changes", bytesMax);
    this.keys = new WatchedKeys(budget);
    this.signal = signal;
  }

  public synchronized void setBytesMax(long bytesMax) {
    budget.setLimit(bytesMax);
    evict();
  }

  public synchronized Budget.Usage memory() {
    return budget.usage();
  }

  // ---------------------------------------------------------------- what comes in

  /** Takes what has become visible: the partition's way in, which never waits for a watcher. */
  public void visible(Effects.Visible visible) {
    boolean wakes;
    boolean begins;
    synchronized (this) {
      if (visible.life() != life) {
        return; // of a former time
      }
      begins = !begun;
      wakes = begins;
      // Nobody has a position before the first of them, nor is it known what was visible by then.
      if (begun && !visible.changes().isEmpty()) {
        wakes = add(visible.changes());
      }
      begun = true;
      here = visible.here();
      far = visible.far();
    }
    for (ChangeListener hears : listeners) {
      if (hears.isWanted()) {
        tell(hears, visible, begins);
      }
    }
    if (wakes) {
      signal.run();
    }
  }

  private static void tell(ChangeListener hears, Effects.Visible visible, boolean begins) {
    if (begins) {
      hears.missed(); // these changes among them
      return;
    }
    List<ChangeListener.Changed> keys =
        new ArrayList<>(visible.changes().size() + visible.over().size());
    for (Effects.Change change : visible.changes()) {
      long author = change.ticket() == 0 ? 0 : visible.authors().getOrDefault(change.ticket(), 0L);
      keys.add(new ChangeListener.Changed(change.object().key(), author));
    }
    for (ObjectId object : visible.over()) {
      keys.add(new ChangeListener.Changed(object.key(), 0));
    }
    if (!keys.isEmpty()) {
      hears.changed(keys);
    }
  }

  /** Somebody hears of all changes at once; whether it does already. */
  boolean listen(ChangeListener hears) {
    if (!listeners.contains(hears)) { // asked for with each read, so it is seldom written
      addListener(hears);
    }
    return begun;
  }

  private synchronized void addListener(ChangeListener hears) {
    if (listeners.contains(hears)) {
      return; // two began at the same time
    }
    List<ChangeListener> all = new ArrayList<>(listeners);
    all.add(hears);
    listeners = List.copyOf(all);
  }

  /** Returns whether somebody waits for some of it. */
  private boolean add(List<Effects.Change> changes) {
    boolean wakes = walkers > 0;
    moved |= wakes;
    long bytes = BATCH_BYTES;
    long tick = end;
    for (Effects.Change change : changes) {
      tick++;
      Key key = change.object().key();
      bytes += CHANGE_BYTES + key.heapBytes();
      wakes |= keys.changed(key, tick, change);
    }
    if (keeps) {
      batches.put(end, new Batch(end, changes, here, far, bytes));
      budget.take(bytes);
      evict();
    }
    end = tick;
    return wakes;
  }

  private void evict() {
    while (budget.isOver() && !batches.isEmpty()) {
      budget.give(batches.pollFirstEntry().getValue().bytes);
    }
  }

  // ---------------------------------------------------------------- whether it is watched

  /** A time of watching begins, of which the partition is told next. */
  synchronized void begin(long as) {
    stop();
    life = as;
  }

  /** Nobody watches any more. */
  synchronized void stop() {
    life = 0;
    begun = false;
    keeps = false;
    end = 0;
    budget.give(budget.used());
    batches.clear();
    keys.clear();
    here = VersionVector.EMPTY;
    far = VersionVector.EMPTY;
  }

  /** From now on changes are kept: somebody watches more than a key. */
  synchronized void keep() {
    keeps = true;
  }

  /** Nobody watches more than a key any more. */
  synchronized void keepNone() {
    keeps = false;
    batches.values().forEach(b -> budget.give(b.bytes));
    batches.clear();
  }

  /** Whether it is told of what becomes visible, or will be soon. */
  synchronized boolean isOn() {
    return life != 0;
  }

  /**
   * Where the ring is.
   *
   * @param life of which it is
   * @param oldest positions from this one on are kept …
   * @param end … to this one
   * @param here what is complete at the end
   */
  record State(long life, long oldest, long end, VersionVector here) {
    boolean reaches(long tick) {
      return tick >= oldest && tick <= end;
    }
  }

  /** What is complete where it ends. */
  public synchronized VersionVector here() {
    return here;
  }

  /** Where it is; empty while the partition has not told yet. */
  synchronized Optional<State> state() {
    return begun ? Optional.of(new State(life, oldest(), end, here)) : Optional.empty();
  }

  private long oldest() {
    return batches.isEmpty() ? end : batches.firstKey();
  }

  // ---------------------------------------------------------------- for those who walk

  /**
   * Behind which position is all that somebody has not been told who was told of these updates.
   *
   * @return -1 if that is not kept, or not known
   */
  synchronized long behind(VersionVector seen) {
    if (far.isAtMost(seen)) {
      return end;
    }
    for (Batch batch : batches.descendingMap().values()) {
      if (batch.farBefore.isAtMost(seen)) {
        return batch.start;
      }
    }
    return -1;
  }

  /**
   * What is behind a position.
   *
   * @param batches the first of them may begin before the position
   * @param here what was complete where they end
   */
  record Part(List<Batch> batches, VersionVector here) {}

  /**
   * What is behind a position, in whole batches.
   *
   * @param changesMax no further batch is taken behind so many changes
   * @return null if the position is not kept
   */
  synchronized @Nullable Part behind(long of, long tick, int changesMax) {
    if (of != life || !begun || tick < oldest() || tick > end) {
      return null;
    }
    List<Batch> part = new ArrayList<>();
    Map.Entry<Long, Batch> next = tick == end ? null : batches.floorEntry(tick);
    long until = tick;
    while (next != null && until - tick < changesMax) {
      part.add(next.getValue());
      until = next.getValue().end();
      next = batches.higherEntry(next.getKey());
    }
    return new Part(part, next == null ? here : next.getValue().before);
  }

  /** One more waits for whatever changes, unless something is behind its position already. */
  synchronized boolean waits(long of, long tick) {
    if (of != life || tick != end) {
      return false;
    }
    walkers++;
    return true;
  }

  /** Whether something has come, since the last call, for which somebody waited. */
  synchronized boolean takeMoved() {
    boolean was = moved;
    moved = false;
    return was;
  }

  synchronized void waitsNoMore() {
    walkers = Math.max(0, walkers - 1);
  }

  // ---------------------------------------------------------------- for those of one key

  /**
   * What is known of a key that is watched by itself.
   *
   * @param state where the ring is
   * @param since changes up to this position are not known by this
   * @param tick the position behind the last one that is; -1 if there is none
   * @param last it; null if there is none
   */
  record Known(State state, long since, long tick, Effects.@Nullable Change last) {}

  /**
   * Looks at a key that is watched by itself from now on.
   *
   * @return empty if the partition has not told yet
   * @throws OsierException OVERLOADED if too many are
   */
  synchronized Optional<Known> look(Key key, long nowNanos) {
    if (!begun) {
      return Optional.empty();
    }
    WatchedKeys.Slot slot = keys.look(key, end, nowNanos);
    evict();
    State now = new State(life, oldest(), end, here);
    return Optional.of(new Known(now, slot.since(), slot.tick(), slot.last()));
  }

  /**
   * Waits for the next change of a key, unless there is one behind the position already.
   *
   * @param changed {@link #takeDue} returns it once the key has changed
   */
  synchronized boolean waits(Key key, long of, long tick, Runnable changed) {
    return of == life && keys.waits(key, tick, changed);
  }

  synchronized void waitsNoMore(Key key, Runnable changed) {
    keys.waitsNoMore(key, changed);
  }

  /** Takes what is to be run since keys have changed. */
  List<Runnable> takeDue() {
    if (!keys.areDue()) {
      return List.of();
    }
    synchronized (this) {
      return keys.takeDue();
    }
  }

  /** Forgets keys for which nobody has asked since a time. */
  synchronized void sweep(long usedBeforeNanos) {
    keys.sweep(usedBeforeNanos);
  }

  @Override
  public synchronized String toString() {
    return "changes " + oldest() + " to " + end + " of " + Long.toHexString(life);
  }
}
