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
 * of bytes: the oldest are dropped when it is spent. The partition only adds changes, whoever
 * watches, and looks their keys up among the singly watched keys, which take at most half of the
 * budget. If only single keys are watched, no changes are kept at all. Thread-safe; runs no others'
 * code under its lock.
 */
public final class ChangeRing {
  /** What a change takes in the heap besides its key, about, in bytes. */
  private static final long CHANGE_BYTES = 72;

  /** What a batch takes besides its changes. */
  private static final long BATCH_BYTES = 160;

  /**
   * Changes that became visible with one batch.
   *
   * @param start the number of changes before this batch
   * @param before the version vector of what was complete before the batch
   * @param farBefore a version vector that covers all that was visible before the batch
   * @param bytes what the batch takes of the budget
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

  /** How many polls wait for any change. */
  private int walkers;

  /** Whether a change has come for which a poll waited. */
  private boolean moved;

  private long life;
  private volatile boolean begun;

  /** The listeners for all changes; few, and replaced under this object's lock. */
  private volatile List<ChangeListener> listeners = List.of();

  /** Whether changes are kept, for watchers of more than one key. */
  private boolean keeps;

  private long end;
  private VersionVector here = VersionVector.EMPTY;
  private VersionVector far = VersionVector.EMPTY;

  /**
   * Makes an empty ring.
   *
   * @param bytesMax the bytes of the heap that the changes may take
   * @param signal is run when a change has come for which a poll waits; must not wait
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

  /** Takes changes that have become visible. Called by the partition; never waits for a watcher. */
  public void visible(Effects.Visible visible) {
    boolean wakes;
    boolean begins;
    synchronized (this) {
      if (visible.life() != life) {
        return; // of an earlier life
      }
      begins = !begun;
      wakes = begins;
      // No position is before the first changes, and it is unknown what was visible before them.
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
      hears.missed(); // these changes included
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

  /** Adds a listener for all changes; returns whether it is told of them already. */
  boolean listen(ChangeListener hears) {
    if (!listeners.contains(hears)) { // called with each read, so usually known
      addListener(hears);
    }
    return begun;
  }

  private synchronized void addListener(ChangeListener hears) {
    if (listeners.contains(hears)) {
      return; // another thread was faster
    }
    List<ChangeListener> all = new ArrayList<>(listeners);
    all.add(hears);
    listeners = List.copyOf(all);
  }

  /** Returns whether a poll waits for some of these changes. */
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

  /** Begins a new life of the ring, about which the partition is told next. */
  synchronized void begin(long as) {
    stop();
    life = as;
  }

  /** Ends the life of the ring, as there are no watchers any more. */
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

  /** Begins to keep changes, for watchers of more than one key. */
  synchronized void keep() {
    keeps = true;
  }

  /** Stops keeping changes, as there are only watchers of single keys. */
  synchronized void keepNone() {
    keeps = false;
    batches.values().forEach(b -> budget.give(b.bytes));
    batches.clear();
  }

  /** Returns whether the partition tells it what becomes visible, or will do so soon. */
  synchronized boolean isOn() {
    return life != 0;
  }

  /**
   * The position of the ring.
   *
   * @param life the ring's present life
   * @param oldest the oldest position after which changes are kept
   * @param end the position after the last change
   * @param here the version vector of what is complete at the end
   */
  record State(long life, long oldest, long end, VersionVector here) {
    boolean reaches(long tick) {
      return tick >= oldest && tick <= end;
    }
  }

  /** Returns the version vector of what is complete at the ring's end. */
  public synchronized VersionVector here() {
    return here;
  }

  /** Returns the ring's position; empty until the partition has told it. */
  synchronized Optional<State> state() {
    return begun ? Optional.of(new State(life, oldest(), end, here)) : Optional.empty();
  }

  private long oldest() {
    return batches.isEmpty() ? end : batches.firstKey();
  }

  // ---------------------------------------------------------------- for those who walk

  /**
   * Returns the position after which are all changes that are not covered by a version vector.
   *
   * @return -1 if they are not kept, or that is not known
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
   * Changes after a position.
   *
   * @param batches the batches, of which the first may begin before the position
   * @param here the version vector of what was complete at the end of the last batch
   */
  record Part(List<Batch> batches, VersionVector here) {}

  /**
   * Returns changes after a position, in whole batches.
   *
   * @param changesMax the number of changes after which no further batch is taken
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

  /**
   * Counts one more poll that waits for any change; returns false if there is a change after its
   * position already.
   */
  synchronized boolean waits(long of, long tick) {
    if (of != life || tick != end) {
      return false;
    }
    walkers++;
    return true;
  }

  /** Returns whether a change has come since the last call for which a poll waited. */
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
   * What is known of a singly watched key.
   *
   * @param state the ring's position
   * @param since the position after which the key's changes are known
   * @param tick the position after the key's last known change; -1 if there is none
   * @param last the last known change; null if there is none
   */
  record Known(State state, long since, long tick, Effects.@Nullable Change last) {}

  /**
   * Returns what is known of a key, which is singly watched from now on.
   *
   * @return empty until the partition has told the ring's position
   * @throws OsierException OVERLOADED if too many keys are singly watched
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
   * Waits for the next change of a key; returns false if there is one after the position already.
   *
   * @param changed {@link #takeDue} returns it once the key has changed
   */
  synchronized boolean waits(Key key, long of, long tick, Runnable changed) {
    return of == life && keys.waits(key, tick, changed);
  }

  synchronized void waitsNoMore(Key key, Runnable changed) {
    keys.waitsNoMore(key, changed);
  }

  /** Removes and returns the actions whose keys have changed. */
  List<Runnable> takeDue() {
    if (!keys.areDue()) {
      return List.of();
    }
    synchronized (this) {
      return keys.takeDue();
    }
  }

  /** Forgets keys for which no poll has come since a time. */
  synchronized void sweep(long usedBeforeNanos) {
    keys.sweep(usedBeforeNanos);
  }

  @Override
  public synchronized String toString() {
    return "changes " + oldest() + " to " + end + " of " + Long.toHexString(life);
  }
}
