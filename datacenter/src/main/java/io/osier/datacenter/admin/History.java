package io.osier.datacenter.admin;

import io.osier.datacenter.metrics.report.JsonObject;
import io.osier.propagation.host.DelayHistogram;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the metrics of a datacenter's last hour, one row for each ten seconds, for people who look
 * later. Rows are in arrays of a fixed size and always take at most {@value #BYTES_MAX} bytes; of
 * more than {@value #PEERS_MAX} peers the last by name are left out. Pure: time is passed in. Not
 * thread-safe.
 */
final class History {
  static final int ROWS = 360;
  static final long ROW_NANOS = 10_000_000_000L;
  static final int PEERS_MAX = 16;

  /** Most bytes of the heap; a column of {@link #ROWS} numbers takes 1,456. */
  static final int BYTES_MAX = 72 << 10;

  /** A value of each row. */
  enum Column {
    /** Updates committed here, per second. */
    UPDATES,
    /** Updates of other datacenters applied here, per second. */
    APPLIED,
    /** Bytes of updates that peers have acknowledged, per second. */
    ARRIVED_BYTES,
    /** Bytes that these updates would take as single operations, per second. */
    OP_BYTES,
    /**
     * Shipments that came here too late, and own updates that came too late elsewhere, per second.
     */
    LATE,
    /** The greatest number of own updates that were overdue at one moment. */
    OVERDUE,
    /** Requests that were refused but may be tried again, per second. */
    REFUSED,
    /** Requests that failed otherwise, per second. */
    ERRORS,
    /** Requests answered, per second. */
    REQUESTS,
    /** The median time of requests, in milliseconds; none if there were no requests. */
    P50_MS,
    /** The 99th percentile of the time of requests, in milliseconds. */
    P99_MS,
    /** The number of processors that this process kept busy. */
    PROCESSORS,
    /** The most bytes of the heap that were in use at one moment. */
    HEAP_BYTES,
    /** Bytes of the store's tables on the disk. */
    DISK_BYTES;

    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * How stale a peer is, and how long it has been silent, in milliseconds.
   *
   * @param staleMillis for how long the peer has lacked the oldest missing update of this
   *     datacenter
   * @param unheardMillis for how long nothing has come from the peer although something should
   */
  record Staleness(long staleMillis, long unheardMillis) {
    /** Returns the greater of each of the two values. */
    Staleness or(Staleness other) {
      return new Staleness(
          Math.max(staleMillis, other.staleMillis), Math.max(unheardMillis, other.unheardMillis));
    }
  }

  /**
   * The values at one moment; counts are since the start of the process.
   *
   * @param requests the times of requests
   * @param processorNanos processor time used by the process, in nanoseconds
   * @param peers the peers' staleness, by name
   */
  record Moment(
      long updates,
      long applied,
      long arrivedBytes,
      long opBytes,
      long late,
      long overdue,
      long refused,
      long errors,
      DelayHistogram requests,
      long processorNanos,
      long heapBytes,
      long diskBytes,
      Map<String, Staleness> peers) {}

  /** The end of each row, by the monotonic clock, since the wall clock may be set meanwhile. */
  private final long[] endNanos = new long[ROWS];

  private long lastNanos;
  private long lastMillis;

  /** The values, by the column's ordinal and the row. */
  private final float[][] columns = new float[Column.values().length][ROWS];

  /** For each peer, its greatest staleness and longest silence in each row. */
  private final Map<String, float[][]> peers = new TreeMap<>();

  private long rows;

  /** The moment at which the present row began; null before the first moment. */
  private @Nullable Moment begin;

  private long beginNanos;

  /** The greatest values since then. */
  private long overdueMax;

  private long heapMax;
  private final Map<String, Staleness> stalest = new TreeMap<>();

  History() {}

  /** Takes the values of the present moment; ends the present row if ten seconds have passed. */
  void tick(Moment now, long nowNanos, long nowMillis) {
    lastNanos = nowNanos;
    lastMillis = nowMillis;
    overdueMax = Math.max(overdueMax, now.overdue);
    heapMax = Math.max(heapMax, now.heapBytes);
    now.peers.forEach((dc, s) -> stalest.merge(dc, s, Staleness::or));
    Moment from = begin;
    if (from == null || nowNanos - beginNanos >= ROW_NANOS) {
      if (from != null) {
        end(from, now, (nowNanos - beginNanos) / 1e9);
      }
      begin = now;
      beginNanos = nowNanos;
      overdueMax = 0;
      heapMax = 0;
      stalest.clear();
    }
  }

  private void end(Moment from, Moment now, double seconds) {
    int row = (int) (rows++ % ROWS);
    endNanos[row] = lastNanos;
    set(Column.UPDATES, row, rate(from.updates, now.updates, seconds));
    set(Column.APPLIED, row, rate(from.applied, now.applied, seconds));
    set(Column.ARRIVED_BYTES, row, rate(from.arrivedBytes, now.arrivedBytes, seconds));
    set(Column.OP_BYTES, row, rate(from.opBytes, now.opBytes, seconds));
    set(Column.LATE, row, rate(from.late, now.late, seconds));
    set(Column.OVERDUE, row, (double) overdueMax);
    set(Column.REFUSED, row, rate(from.refused, now.refused, seconds));
    set(Column.ERRORS, row, rate(from.errors, now.errors, seconds));
    set(Column.REQUESTS, row, rate(from.requests.total(), now.requests.total(), seconds));
    set(Column.P50_MS, row, quantileMillis(from.requests, now.requests, 0.5));
    set(Column.P99_MS, row, quantileMillis(from.requests, now.requests, 0.99));
    set(Column.PROCESSORS, row, rate(from.processorNanos, now.processorNanos, seconds) / 1e9);
    set(Column.HEAP_BYTES, row, (double) heapMax);
    set(Column.DISK_BYTES, row, (double) now.diskBytes);
    if (peers.size() + stalest.size() > PEERS_MAX) {
      peers.keySet().retainAll(stalest.keySet()); // removed peers make room
    }
    stalest.keySet().forEach(this::makeRoom);
    peers.forEach(
        (dc, its) -> {
          Staleness s = stalest.get(dc);
          its[0][row] = s == null ? Float.NaN : s.staleMillis;
          its[1][row] = s == null ? Float.NaN : s.unheardMillis;
        });
  }

  private void makeRoom(String dc) {
    if (!peers.containsKey(dc) && peers.size() < PEERS_MAX) {
      float[][] its = {new float[ROWS], new float[ROWS]};
      for (float[] column : its) {
        Arrays.fill(column, Float.NaN);
      }
      peers.put(dc, its);
    }
  }

  private void set(Column column, int row, double value) {
    columns[column.ordinal()][row] = (float) value;
  }

  /** Counts fall when a keyspace is dropped; that yields a rate of 0. */
  private static double rate(long from, long to, double seconds) {
    return Math.max(0, to - from) / seconds;
  }

  /**
   * Returns a quantile of the times between two moments, in milliseconds; NaN if there are none.
   * Linear within a range.
   */
  static double quantileMillis(DelayHistogram from, DelayHistogram to, double share) {
    double wanted = share * (to.total() - from.total());
    double sum = 0;
    long least = 0;
    for (int i = 0; i < to.ranges() && wanted > 0; i++) {
      long count = to.count(i) - from.count(i);
      long most = to.boundMicros(i);
      if (count > 0 && sum + count >= wanted) {
        return (least + (most - least) * (wanted - sum) / count) / 1e3;
      }
      sum += count;
      least = most;
    }
    return wanted > 0 ? least / 1e3 : Double.NaN;
  }

  /** Returns all rows, oldest first, with their ends converted to the wall clock. */
  JsonObject json(String dc) {
    JsonObject root = new JsonObject();
    root.put("dc", dc).put("row_s", ROW_NANOS / 1_000_000_000);
    long first = Math.max(0, rows - ROWS);
    JsonObject.Array ends = root.putArray("end_ms");
    for (long row = first; row < rows; row++) {
      ends.add(lastMillis - (lastNanos - endNanos[(int) (row % ROWS)]) / 1_000_000);
    }
    JsonObject of = root.putObject("columns");
    for (Column column : Column.values()) {
      write(of.putArray(column.label()), columns[column.ordinal()], first);
    }
    JsonObject ofPeers = root.putObject("peers");
    peers.forEach(
        (name, its) -> {
          JsonObject peer = ofPeers.putObject(name);
          write(peer.putArray("stale_ms"), its[0], first);
          write(peer.putArray("unheard_ms"), its[1], first);
        });
    return root;
  }

  private void write(JsonObject.Array to, float[] values, long first) {
    for (long row = first; row < rows; row++) {
      to.add((double) values[(int) (row % ROWS)]);
    }
  }

  /** Returns how many bytes of the heap all rows take, about. */
  long bytes() {
    long columnBytes = 16 + 4L * ROWS;
    return 16 + 8L * ROWS + columnBytes * (columns.length + 2L * peers.size());
  }
}
