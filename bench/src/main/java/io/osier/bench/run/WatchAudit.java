package io.osier.bench.run;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/** Checks that watchers are told of a load's updates to the keys they watch. Thread-safe. */
final class WatchAudit implements Load.Observer {
  private static final long PATIENCE_NANOS = 60_000_000_000L;
  private static final long LOOK_NANOS = 1_000_000;
  private static final int NAMED_MAX = 5;

  private final Time time;
  private final boolean each;
  private final AtomicLongArray sentNanos;
  private final AtomicIntegerArray acknowledged;
  private final AtomicIntegerArray failed;
  private final AtomicIntegerArray told;
  private final AtomicLongArray toldNanos;
  private final LongAdder changes = new LongAdder();
  private final AtomicLong lastNanos = new AtomicLong(Long.MIN_VALUE);

  /**
   * Creates an account without updates.
   *
   * @param each whether a watcher must be told of each update; otherwise one change of a key, told
   *     after the key's last update was sent, is enough, since the watcher then reads the present
   *     value
   */
  WatchAudit(int keys, boolean each, Time time) {
    this.time = time;
    this.each = each;
    sentNanos = new AtomicLongArray(keys);
    acknowledged = new AtomicIntegerArray(keys);
    failed = new AtomicIntegerArray(keys);
    told = new AtomicIntegerArray(keys);
    toldNanos = new AtomicLongArray(keys);
    for (int key = 0; key < keys; key++) {
      toldNanos.set(key, Long.MIN_VALUE);
    }
  }

  @Override
  public void sent(String operation, int key, long number) {
    sentNanos.accumulateAndGet(key, time.nanos(), Math::max);
  }

  @Override
  public void answered(String operation, int key, long number, boolean succeeded) {
    (succeeded ? acknowledged : failed).incrementAndGet(key);
  }

  void told(int key) {
    long now = time.nanos();
    toldNanos.accumulateAndGet(key, now, Math::max);
    lastNanos.accumulateAndGet(now, Math::max);
    told.incrementAndGet(key);
    changes.increment();
  }

  long changes() {
    return changes.sum();
  }

  /** Returns the nanoseconds from a moment until the last change was told; 0 if none was since. */
  long lagSince(long nanos) {
    return Math.max(nanos, lastNanos.get()) - nanos;
  }

  /**
   * Waits until watchers were told of all updates. For a key with a failed call only one change is
   * demanded, since the call may or may not have been done.
   *
   * @param step the distance between two watched keys
   * @throws OsierException INTERNAL if a key was not told within a minute, or if no watched key was
   *     updated
   */
  void await(int step) {
    long deadline = time.nanos() + PATIENCE_NANOS;
    for (List<Integer> missed = missed(step); !missed.isEmpty(); missed = missed(step)) {
      if (time.nanos() > deadline) {
        throw new OsierException(
            ErrorCode.INTERNAL,
            missed.size()
                + " watched keys were updated and not told of, among them "
                + missed.subList(0, Math.min(NAMED_MAX, missed.size())));
      }
      time.pass(LOOK_NANOS);
    }
  }

  private List<Integer> missed(int step) {
    List<Integer> missed = new ArrayList<>();
    long updates = 0;
    for (int key = 0; key < told.length(); key += step) {
      int updated = acknowledged.get(key);
      updates += updated;
      boolean isTold =
          failed.get(key) > 0
              ? told.get(key) > 0
              : toldNanos.get(key) >= sentNanos.get(key) && (!each || told.get(key) >= updated);
      if (updated > 0 && !isTold) {
        missed.add(key);
      }
    }
    if (updates == 0) {
      throw new OsierException(ErrorCode.INTERNAL, "no watched key was updated");
    }
    return missed;
  }
}
