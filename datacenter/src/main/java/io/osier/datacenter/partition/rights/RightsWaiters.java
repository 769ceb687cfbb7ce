package io.osier.datacenter.partition.rights;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.crdt.ObjectId;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Holds the updates that wait for rights of bounded counters, and when others were asked for them.
 * Not thread-safe.
 */
public final class RightsWaiters {
  /**
   * The shortest pause before rights of an object are asked for again. It doubles each time that
   * nothing comes of it: a datacenter that has nothing to give stays silent.
   */
  private static final long ASK_NANOS = 200_000_000;

  private static final int ASK_DOUBLINGS_MAX = 3;

  /** How many objects' requests are remembered before the old ones are forgotten. */
  private static final int ASKED_MAX = 1_000;

  /** The most updates that may wait for rights. */
  private static final int WAITING_MAX = 10_000;

  public record Waiter(long ticket, Request.Write write, long sinceNanos, long deadlineNanos) {}

  /**
   * The last request for an object's rights.
   *
   * @param times how many requests there were since the object changed
   */
  private record Asked(long nanos, int times) {
    long againNanos() {
      return nanos + (ASK_NANOS << Math.clamp(times - 1, 0, ASK_DOUBLINGS_MAX));
    }
  }

  private final Map<ObjectId, List<Waiter>> waiting = new LinkedHashMap<>();
  private final Map<ObjectId, Asked> asked = new HashMap<>();
  private final TreeSet<ObjectId> changed = new TreeSet<>();
  private int waiters;

  /** A lower bound of the deadlines of all waiting updates. */
  private long nextDueNanos = Long.MAX_VALUE;

  /**
   * Returns whether others may be asked for a counter's rights now; if so, notes that they are
   * asked.
   */
  boolean mayAsk(ObjectId object, long nowNanos) {
    Asked last = asked.get(object);
    if (last != null && nowNanos < last.againNanos()) {
      return false;
    }
    if (asked.size() > ASKED_MAX) {
      asked.values().removeIf(a -> nowNanos >= a.againNanos());
    }
    asked.put(object, new Asked(nowNanos, last == null ? 1 : last.times + 1));
    return true;
  }

  private long againNanos(ObjectId object) {
    Asked last = asked.get(object);
    return last == null ? Long.MIN_VALUE / 2 : last.againNanos();
  }

  /** Lets an update wait. */
  public void add(ObjectId object, Waiter waiter) {
    if (waiters >= WAITING_MAX) {
      throw new OsierException(
          ErrorCode.OVERLOADED,
          WAITING_MAX + " updates wait for rights already, the most that may; try again later");
    }
    waiters++;
    waiting.computeIfAbsent(object, o -> new ArrayList<>()).add(waiter);
    nextDueNanos = Math.min(nextDueNanos, Math.min(againNanos(object), waiter.deadlineNanos));
  }

  /** Notes that a counter has changed: updates that wait for it may go on. */
  void changed(ObjectId object) {
    if (waiting.containsKey(object)) {
      changed.add(object);
    }
    asked.computeIfPresent(object, (o, last) -> new Asked(last.nanos, 0));
  }

  /** Removes and returns the updates that may be tried again, or have waited too long. */
  public List<Waiter> due(long nowNanos) {
    boolean late = nextDueNanos <= nowNanos;
    List<Waiter> due = new ArrayList<>();
    if (!late && changed.isEmpty()) {
      return due;
    }
    long next = late ? Long.MAX_VALUE : nextDueNanos;
    for (ObjectId object : List.copyOf(late ? waiting.keySet() : changed)) {
      List<Waiter> of = waiting.getOrDefault(object, List.of());
      long againNanos = againNanos(object);
      boolean all = changed.contains(object) || againNanos <= nowNanos;
      List<Waiter> left = new ArrayList<>();
      for (Waiter waiter : of) {
        if (all || waiter.deadlineNanos <= nowNanos) {
          waiters--;
          due.add(waiter);
        } else {
          left.add(waiter);
          next = Math.min(next, Math.min(againNanos, waiter.deadlineNanos));
        }
      }
      if (left.isEmpty()) {
        waiting.remove(object);
      } else {
        waiting.put(object, left);
      }
    }
    changed.clear();
    nextDueNanos = next;
    return due;
  }

  /** Returns when {@link #due} has something; Long.MAX_VALUE if never. */
  long nextNanos() {
    return changed.isEmpty() ? nextDueNanos : Long.MIN_VALUE;
  }

  boolean areOf(ObjectId object) {
    return waiting.containsKey(object);
  }

  public int size() {
    return waiters;
  }

  public int size(ObjectId object) {
    return waiting.getOrDefault(object, List.of()).size();
  }
}
