package io.osier.datacenter.control.execution;

import io.osier.datacenter.control.view.CatchUp;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * Measures how fast a joining datacenter gets the others' data. Rates are of the last {@value
 * #MEASURED_NANOS} ns. Pure, with time passed in; thread-safe.
 */
final class JoinProgress {
  static final long MEASURED_NANOS = 10_000_000_000L;

  /** The least time between samples. */
  private static final long SAMPLE_NANOS = 250_000_000;

  /** The pause before the others are asked again. */
  private static final long ASK_NANOS = 1_000_000_000;

  private record Sample(long nanos, long objects, long bytes) {}

  /** How many objects each datacenter holds, by datacenter. */
  private final Map<String, ObjectCounts> heard = new TreeMap<>();

  private final Deque<Sample> samples = new ArrayDeque<>();
  private boolean asked;
  private long askedNanos;

  /**
   * Returns whether the others must be asked now for their counts; if so, notes that they are
   * asked.
   */
  synchronized boolean asks(long nowNanos) {
    if (asked && nowNanos - askedNanos < ASK_NANOS) {
      return false;
    }
    asked = true;
    askedNanos = nowNanos;
    return true;
  }

  /** Takes another datacenter's counts. */
  synchronized void heard(String dc, ObjectCounts holdings) {
    heard.put(dc, holdings);
  }

  /**
   * Returns the progress.
   *
   * @param here the counts of this datacenter
   * @param bytes how many bytes have come since the start
   * @param complete how many of its partitions have the data of their peers
   */
  synchronized CatchUp look(
      ObjectCounts here, long bytes, int complete, int partitions, long nowNanos) {
    long objects = here.objects().values().stream().mapToLong(n -> n).sum();
    if (samples.isEmpty() || nowNanos - samples.getLast().nanos >= SAMPLE_NANOS) {
      samples.addLast(new Sample(nowNanos, objects, bytes));
    }
    while (nowNanos - samples.getFirst().nanos > MEASURED_NANOS && samples.size() > 1) {
      samples.removeFirst();
    }
    Sample first = samples.getFirst();
    double seconds = (nowNanos - first.nanos) / 1e9;
    return new CatchUp(
        complete,
        partitions,
        objects,
        there(here),
        bytes,
        seconds > 0 ? Math.max(0, objects - first.objects) / seconds : 0,
        seconds > 0 ? Math.max(0, bytes - first.bytes) / seconds : 0);
  }

  /** Sums up, over the keyspaces held here, the largest count that another datacenter has. */
  private OptionalLong there(ObjectCounts here) {
    if (heard.isEmpty()) {
      return OptionalLong.empty();
    }
    long there = 0;
    for (String keyspace : here.objects().keySet()) {
      there +=
          heard.values().stream()
              .mapToLong(h -> h.objects().getOrDefault(keyspace, 0L))
              .max()
              .orElse(0);
    }
    return OptionalLong.of(there);
  }
}
