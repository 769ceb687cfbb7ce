package io.osier.datacenter.forward;

import io.osier.datacenter.metrics.Snapshot;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** How many requests were forwarded, and how long their answers took. Thread-safe. */
final class ForwardCounts {
  /** The bounds of the ranges: round trips between datacenters, and the time that holders take. */
  private static final long[] BOUNDS_MICROS = {
    250, 500, 1_000, 2_500, 5_000, 10_000, 20_000, 30_000, 50_000, 75_000, 100_000, 150_000,
    200_000, 300_000, 500_000, 1_000_000, 5_000_000
  };

  private record Way(String keyspace, String to, String kind) {}

  private static final class Cell {
    final LongAdder sent = new LongAdder();
    final DelayCounts answered = new DelayCounts(BOUNDS_MICROS);
  }

  private final Map<Way, Cell> cells = new ConcurrentHashMap<>();

  private Cell cell(String keyspace, String to, Forwardable.Kind kind) {
    return cells.computeIfAbsent(new Way(keyspace, to, kind.label()), way -> new Cell());
  }

  void sent(String keyspace, String to, Forwardable.Kind kind) {
    cell(keyspace, to, kind).sent.increment();
  }

  void answered(String keyspace, String to, Forwardable.Kind kind, long nanos) {
    cell(keyspace, to, kind).answered.add(nanos);
  }

  /** Returns the counts in the order of keyspace, datacenter and kind: a copy. */
  List<Snapshot.Forwarded> all() {
    return cells.entrySet().stream()
        .map(
            each -> {
              Way way = each.getKey();
              Cell cell = each.getValue();
              return new Snapshot.Forwarded(
                  way.keyspace, way.to, way.kind, cell.sent.sum(), cell.answered.figures());
            })
        .sorted(
            Comparator.comparing(Snapshot.Forwarded::keyspace)
                .thenComparing(Snapshot.Forwarded::to)
                .thenComparing(Snapshot.Forwarded::kind))
        .toList();
  }
}
