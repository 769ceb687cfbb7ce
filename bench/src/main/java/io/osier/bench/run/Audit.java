package io.osier.bench.run;

import com.typesafe.config.Config;
import io.osier.bench.systems.Calls;
import io.osier.bench.systems.OsierCalls;
import io.osier.bench.systems.Target;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps account of a load: what was acknowledged must be at every node in the end, an increment
 * once; and what is watched must be told of. Thread-safe.
 */
final class Audit implements Load.Observer {
  private static final long PATIENCE_NANOS = 60_000_000_000L;
  private static final long LOOK_NANOS = 1_000_000;

  /** Of each key, or of each element of each set. */
  private final AtomicIntegerArray acknowledged;

  private final AtomicIntegerArray failed;
  private final int elements;
  private final boolean isWatched;
  private final long[] before;

  private final AtomicLongArray sentNanos;
  private final AtomicLongArray toldNanos;
  private final LongAdder told = new LongAdder();
  private final AtomicLong lastTold = new AtomicLong();

  /** Nothing was called yet. */
  Audit(int keys, int elements, boolean isWatched) {
    this.isWatched = isWatched;
    this.before = new long[keys];
    this.elements = elements;
    acknowledged = new AtomicIntegerArray(keys * elements);
    failed = new AtomicIntegerArray(keys * elements);
    sentNanos = new AtomicLongArray(keys);
    toldNanos = new AtomicLongArray(keys);
  }

  /** What counters show already is not of this load. */
  void startFrom(Calls calls) {
    for (int key = 0; key < before.length; key++) {
      before[key] = calls.count(key);
    }
  }

  @Override
  public void sent(String operation, int key, long number) {
    if (isWatched) {
      sentNanos.set(key, System.nanoTime());
    }
  }

  @Override
  public void answered(String operation, int key, long number, boolean succeeded) {
    int element = operation.equals("add") ? OsierCalls.elementOf(number, elements) : 0;
    (succeeded ? acknowledged : failed).incrementAndGet(key * elements + element);
  }

  /** A watcher was told of a change of a key. */
  void told(int key) {
    long now = System.nanoTime();
    toldNanos.set(key, now);
    lastTold.set(now);
    told.increment();
  }

  /** How many changes were told. */
  long told() {
    return told.sum();
  }

  /** When the last one was told, as System.nanoTime() has it; 0 if none was. */
  long lastToldNanos() {
    return lastTold.get();
  }

  /**
   * Waits until each watched key was told of after its last update was sent.
   *
   * @param step between the watched keys
   * @throws OsierException INTERNAL if it was not
   */
  void awaitTold(int step) {
    long deadline = System.nanoTime() + PATIENCE_NANOS / 2;
    for (int key = 0; key < toldNanos.length(); key += step) {
      while (acknowledged.get(key * elements) > 0 && toldNanos.get(key) < sentNanos.get(key)) {
        if (System.nanoTime() > deadline) {
          throw new OsierException(
              ErrorCode.INTERNAL, "the last update of the watched key " + key + " was not told");
        }
        LockSupport.parkNanos(LOOK_NANOS);
      }
    }
  }

  /**
   * Waits until every node shows what was acknowledged.
   *
   * @param operation whose calls are accounted for: increment or add
   * @return seconds until then
   * @throws OsierException INTERNAL if one does not within a minute, or counted something twice
   */
  double awaitEverywhere(Target target, Config load, String operation) throws IOException {
    long start = System.nanoTime();
    List<Calls> nodes = new ArrayList<>();
    try {
      for (int node = 0; node < target.nodes(); node++) {
        nodes.add(target.calls(node, load));
      }
      for (int at = 0; at < acknowledged.length(); at++) {
        int times = acknowledged.get(at);
        for (Calls node : times > 0 ? nodes : List.<Calls>of()) {
          check(node, operation, at, times, start + PATIENCE_NANOS);
        }
      }
      return (System.nanoTime() - start) / 1e9;
    } finally {
      nodes.forEach(Calls::close);
    }
  }

  private void check(Calls node, String operation, int at, int times, long deadline) {
    boolean isAdd = operation.equals("add");
    int key = at / elements;
    while (isAdd ? !node.has(key, at % elements) : node.count(key) < before[key] + times) {
      if (System.nanoTime() > deadline) {
        throw new OsierException(
            ErrorCode.INTERNAL, "an acknowledged " + operation + " of key " + key + " is missing");
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
    if (!isAdd && node.count(key) > before[key] + times + failed.get(at)) {
      throw new OsierException(
          ErrorCode.INTERNAL, "an increment of key " + key + " was counted twice");
    }
  }

  /** How many calls were acknowledged. */
  long acknowledged() {
    long sum = 0;
    for (int i = 0; i < acknowledged.length(); i++) {
      sum += acknowledged.get(i);
    }
    return sum;
  }
}
