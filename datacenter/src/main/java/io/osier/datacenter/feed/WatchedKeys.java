package io.osier.datacenter.feed;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.memory.Budget;
import io.osier.datacenter.partition.machine.Effects;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a partition that are watched by themselves, each with its last change and who waits
 * for the next one. They take at most half of the ring's budget. Not thread-safe, but for {@link
 * #areDue}: guarded by the {@link ChangeRing}.
 */
final class WatchedKeys {
  /** What a key that is watched by itself takes besides the key. */
  private static final long SLOT_BYTES = 200;

  /** A key that is watched by itself. */
  static final class Slot {
    /** Changes of the key up to this one are not known. */
    private final long since;

    /** How many changes there were with the last one of the key; -1 if there was none. */
    private long tick = -1;

    private Effects.@Nullable Change last;
    private final List<Runnable> waiting = new ArrayList<>();
    private boolean due;
    private long usedNanos;

    Slot(long since) {
      this.since = since;
    }

    long since() {
      return since;
    }

    long tick() {
      return tick;
    }

    Effects.@Nullable Change last() {
      return last;
    }
  }

  private final Budget budget;
  private final Map<Key, Slot> slots = new HashMap<>();
  private long slotBytes;

  /** Keys that have changed and for which somebody waits. */
  private final Queue<Slot> due = new ConcurrentLinkedQueue<>();

  WatchedKeys(Budget budget) {
    this.budget = budget;
  }

  /** A key has changed: returns whether it is the first change for which somebody waits. */
  boolean changed(Key key, long tick, Effects.Change change) {
    Slot slot = slots.isEmpty() ? null : slots.get(key);
    if (slot == null) {
      return false;
    }
    slot.tick = tick;
    slot.last = change;
    if (slot.due || slot.waiting.isEmpty()) {
      return false;
    }
    slot.due = true;
    due.add(slot);
    return true;
  }

  /** None is watched any more; what they took of the budget is given back by the ring. */
  void clear() {
    slots.clear();
    slotBytes = 0;
  }

  /**
   * A key that is watched from now on.
   *
   * @param end how many changes there were
   * @throws OsierException OVERLOADED if too many are
   */
  Slot look(Key key, long end, long nowNanos) {
    Slot slot = slots.get(key);
    if (slot == null) {
      slot = new Slot(end);
      add(key, slot);
    }
    slot.usedNanos = nowNanos;
    return slot;
  }

  private void add(Key key, Slot slot) {
    long bytes = slotBytes(key);
    // Not swept here: whoever asks in vain again and again would keep the partition from its ring.
    if (slotBytes + bytes > budget.limit() / 2) {
      budget.noteSpent();
      throw new OsierException(
          ErrorCode.OVERLOADED,
          slots.size()
              + " keys of this partition are watched by themselves, which takes half of its share"
              + " of osier.memory.changes; watch a prefix instead, or give it more");
    }
    slots.put(key, slot);
    slotBytes += bytes;
    budget.take(bytes);
  }

  private static long slotBytes(Key key) {
    return SLOT_BYTES + key.heapBytes();
  }

  boolean waits(Key key, long tick, Runnable changed) {
    Slot slot = slots.get(key);
    if (slot == null || slot.tick > tick) {
      return false;
    }
    slot.waiting.add(changed);
    return true;
  }

  void waitsNoMore(Key key, Runnable changed) {
    Slot slot = slots.get(key);
    if (slot != null) {
      slot.waiting.remove(changed);
    }
  }

  /** Whether {@link #takeDue} has something to take. For any thread. */
  boolean areDue() {
    return !due.isEmpty();
  }

  /** Takes what is to be run since keys have changed. */
  List<Runnable> takeDue() {
    List<Runnable> all = new ArrayList<>();
    Slot slot;
    while ((slot = due.poll()) != null) {
      slot.due = false;
      all.addAll(slot.waiting);
      slot.waiting.clear();
    }
    return all;
  }

  /** Forgets keys for which nobody has asked since a time. */
  void sweep(long usedBeforeNanos) {
    for (Iterator<Map.Entry<Key, Slot>> it = slots.entrySet().iterator(); it.hasNext(); ) {
      Map.Entry<Key, Slot> next = it.next();
      Slot slot = next.getValue();
      if (slot.waiting.isEmpty() && !slot.due && slot.usedNanos - usedBeforeNanos < 0) {
        long bytes = slotBytes(next.getKey()); // what the entry is behind this is not defined
        it.remove();
        slotBytes -= bytes;
        budget.give(bytes);
      }
    }
  }
}
