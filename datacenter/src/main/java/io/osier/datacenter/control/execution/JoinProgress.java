package io.osier.datacenter.control.execution;

import io.osier.datacenter.control.CatchUp;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * Measures how fast a datacenter that joins gets what the others have. Rates are of the last
 * {@value #MEASURED_NANOS} ns. Pure, with time passed in; thread-safe.
 */
final class JoinProgress {
  static final long MEASURED_NANOS = 10_000_000_000L;

  /** Moments are at least so far apart. */
  private static final long SAMPLE_NANOS = 250_000_000;

  /** Until the others have been asked again. */
  private static final long ASK_NANOS = 1_000_000_000;

  private record Sample(long nanos, long objects, long bytes) {}

  /** By datacenter, what it holds. */
  private final Map<String, ObjectCounts> heard = new TreeMap<>();

  private final Deque<Sample> samples = new ArrayDeque<>();
  private boolean asked;
  private long askedNanos;

  /** Whether the others are to be asked now what they hold; if so, that counts as done. */
  synchronized boolean asks(long nowNanos) {
    if (asked && nowNanos - askedNanos < ASK_NANOS) {
      return false;
    }
    asked = true;
    askedNanos = nowNanos;
    return true;
  }

  /** Another one says what it holds. */
  synchronized void heard(String dc, ObjectCounts holdings) {
    heard.put(dc, holdings);
  }

  /**
   * How far it is.
   *
   * @param here what it holds
   * @param bytes that have come since its start
   * @param complete so many of its partitions have what the others have
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

  /** Of each keyspace that is held here, what the one has that has most. */
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
