package io.osier.bench.client;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * What writers wrote, by key, and what watchers were told of it. Keys are numbers from 0 on; times
 * are of System.nanoTime(). Thread-safe, but a key is told of by one thread at a time.
 */
final class Tally {
  /** What must have been told in the end. */
  enum Demand {
    /** Each acknowledged update. */
    EACH_UPDATE,

    /** Of each key one change after its last update was sent: then its present value is read. */
    LATEST
  }

  private final AtomicLongArray sentNanos;
  private final AtomicIntegerArray acknowledged;
  private final AtomicLongArray toldNanos;
  private final AtomicIntegerArray told;
  private final LongAdder updates = new LongAdder();
  private final LongAdder changes = new LongAdder();
  private final AtomicLong lastToldNanos = new AtomicLong(Long.MIN_VALUE);

  /**
   * Nothing was written.
   *
   * @param keys how many there are
   */
  Tally(int keys) {
    sentNanos = new AtomicLongArray(keys);
    acknowledged = new AtomicIntegerArray(keys);
    toldNanos = new AtomicLongArray(keys);
    told = new AtomicIntegerArray(keys);
    for (int i = 0; i < keys; i++) {
      toldNanos.set(i, Long.MIN_VALUE);
    }
  }

  /** An update of a key is sent next. */
  void sent(int key, long nanos) {
    sentNanos.accumulateAndGet(key, nanos, Math::max);
  }

  /** An update of a key was acknowledged. */
  void acknowledged(int key) {
    acknowledged.incrementAndGet(key);
    updates.increment();
  }

  /** Somebody who watches was told of a change of a key. */
  void told(int key, long nanos) {
    told.incrementAndGet(key);
    toldNanos.set(key, nanos);
    lastToldNanos.accumulateAndGet(nanos, Math::max);
    changes.increment();
  }

  /** How many updates were acknowledged. */
  long updates() {
    return updates.sum();
  }

  /** How many changes were told. */
  long changes() {
    return changes.sum();
  }

  /** When the last change was told; Long.MIN_VALUE if none was. */
  long lastToldNanos() {
    return lastToldNanos.get();
  }

  /**
   * Keys that were updated and not told of as they must be.
   *
   * @param watched the keys that are asked for
   */
  List<Integer> missed(Demand demand, List<Integer> watched) {
    List<Integer> missed = new ArrayList<>();
    for (int key : watched) {
      int updated = acknowledged.get(key);
      boolean isTold =
          toldNanos.get(key) >= sentNanos.get(key)
              && (demand == Demand.LATEST || told.get(key) >= updated);
      if (updated > 0 && !isTold) {
        missed.add(key);
      }
    }
    return missed;
  }
}
