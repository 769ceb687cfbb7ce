package io.osier.datacenter.forward;

import io.osier.propagation.host.DelayHistogram;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** How many requests were forwarded, and how long their answers took. Thread-safe. */
public final class ForwardCounts {
  /** The bounds of the ranges: round trips between datacenters, and the time that holders take. */
  private static final long[] BOUNDS_MICROS = {
    250, 500, 1_000, 2_500, 5_000, 10_000, 20_000, 30_000, 50_000, 75_000, 100_000, 150_000,
    200_000, 300_000, 500_000, 1_000_000, 5_000_000
  };

  /**
   * Requests that are counted together.
   *
   * @param to the datacenter that was asked
   * @param kind read, update, scan, watch or transact
   */
  public record Way(String keyspace, String to, String kind) implements Comparable<Way> {
    private static final Comparator<Way> ORDER =
        Comparator.comparing(Way::keyspace).thenComparing(Way::to).thenComparing(Way::kind);

    @Override
    public int compareTo(Way other) {
      return ORDER.compare(this, other);
    }
  }

  /**
   * What was counted.
   *
   * @param answered from when a request was sent until its answer came
   */
  public record Figures(long sent, DelayHistogram answered) {}

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

  /** Returns the counts by keyspace, datacenter and kind: a copy. */
  public Map<Way, Figures> all() {
    Map<Way, Figures> all = new TreeMap<>();
    cells.forEach(
        (way, cell) -> all.put(way, new Figures(cell.sent.sum(), cell.answered.figures())));
    return all;
  }
}
