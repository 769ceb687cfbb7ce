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
 * The singly watched keys of a partition, each with its last change and the polls that wait for the
 * next one. They take at most half of the ring's budget. Not thread-safe except {@link #areDue}:
 * guarded by the {@link ChangeRing}.
 */
final class WatchedKeys {
  /** What a singly watched key takes of the heap besides the key, in bytes. */
  private static final long SLOT_BYTES = 200;

  /** A singly watched key. */
  static final class Slot {
    /** The position after which the key's changes are known. */
    private final long since;

    /** The position after the key's last change; -1 if there was none. */
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

  /** Keys that have changed and for which a poll waits. */
  private final Queue<Slot> due = new ConcurrentLinkedQueue<>();

  WatchedKeys(Budget budget) {
    this.budget = budget;
  }

  /** Notes a change of a key; returns whether it is the first one for which a poll waits. */
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

  /** Forgets all keys; the ring gives their share of the budget back. */
  void clear() {
    slots.clear();
    slotBytes = 0;
  }

  /**
   * Returns the slot of a key, which is singly watched from now on.
   *
   * @param end the ring's present end
   * @throws OsierException OVERLOADED if too many keys are singly watched
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
    // No sweep here: a client that polls in vain again and again would keep the partition from its
    // ring.
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

  /** Returns whether {@link #takeDue} has something to return. For any thread. */
  boolean areDue() {
    return !due.isEmpty();
  }

  /** Removes and returns the actions whose keys have changed. */
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

  /** Forgets keys for which no poll has come since a time. */
  void sweep(long usedBeforeNanos) {
    for (Iterator<Map.Entry<Key, Slot>> it = slots.entrySet().iterator(); it.hasNext(); ) {
      Map.Entry<Key, Slot> next = it.next();
      Slot slot = next.getValue();
      if (slot.waiting.isEmpty() && !slot.due && slot.usedNanos - usedBeforeNanos < 0) {
        long bytes = slotBytes(next.getKey()); // the entry is undefined after its removal
        it.remove();
        slotBytes -= bytes;
        budget.give(bytes);
      }
    }
  }
}
