package io.osier.datacenter.admin;

import io.osier.datacenter.metrics.report.JsonObject;
import io.osier.propagation.host.DelayHistogram;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The last hour of a datacenter: a row for each ten seconds, so that who comes later can look back.
 * Rows are in arrays of a fixed size, and take {@value #BYTES_MAX} bytes at most whatever happens;
 * of more than {@value #PEERS_MAX} peers the last by name have none. Pure: time comes in; not
 * thread-safe.
 */
final class History {
  static final int ROWS = 360;
  static final long ROW_NANOS = 10_000_000_000L;
  static final int PEERS_MAX = 16;

  /** Of the heap; a column of {@link #ROWS} numbers takes 1,456. */
  static final int BYTES_MAX = 72 << 10;

  /** What a row says of the datacenter. */
  enum Column {
    /** Committed here, a second. */
    UPDATES,
    /** Of others that came here, a second. */
    APPLIED,
    /** Bytes of updates that peers have acknowledged, a second. */
    ARRIVED_BYTES,
    /** What these take as single operations, a second. */
    OP_BYTES,
    /**
     * Shipments that came here too late, and own updates that came too late elsewhere, a second.
     */
    LATE,
    /** Most own updates that were overdue at one moment. */
    OVERDUE,
    /** Requests that were refused for now, a second. */
    REFUSED,
    /** Requests that failed otherwise, a second. */
    ERRORS,
    /** Requests answered, a second. */
    REQUESTS,
    /** Half of the requests were answered within these milliseconds; none if there were none. */
    P50_MS,
    /** 99 % were. */
    P99_MS,
    /** Processors that were busy with this process. */
    PROCESSORS,
    /** Most of the heap that was in use at one moment. */
    HEAP_BYTES,
    /** What the tables on the disk take. */
    DISK_BYTES;

    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * How stale a peer is, and this datacenter seen from there, in milliseconds.
   *
   * @param staleMillis for how long it has lacked the oldest update of this one that it lacks
   * @param unheardMillis for how long nothing has come from it
   */
  record Staleness(long staleMillis, long unheardMillis) {
    /** The worse of both in each. */
    Staleness or(Staleness other) {
      return new Staleness(
          Math.max(staleMillis, other.staleMillis), Math.max(unheardMillis, other.unheardMillis));
    }
  }

  /**
   * What is so at a moment; counts are since the start of the process.
   *
   * @param requests how long they took
   * @param processorNanos that the process has taken
   * @param peers by name
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

  /** By the monotonic clock: the wall clock may be set meanwhile. */
  private final long[] endNanos = new long[ROWS];

  private long lastNanos;
  private long lastMillis;

  /** By the column's place. */
  private final float[][] columns = new float[Column.values().length][ROWS];

  /** By peer, how stale it was at most in each row, and how long unheard. */
  private final Map<String, float[][]> peers = new TreeMap<>();

  private long rows;

  /** Where the row began that is being made; null before the first moment. */
  private @Nullable Moment begin;

  private long beginNanos;

  /** Since then, at most. */
  private long overdueMax;

  private long heapMax;
  private final Map<String, Staleness> stalest = new TreeMap<>();

  History() {}

  /** Takes what is so now. */
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
      peers.keySet().retainAll(stalest.keySet()); // those that have gone make room
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

  /** What was dropped meanwhile is not counted any more: that is no rate. */
  private static double rate(long from, long to, double seconds) {
    return Math.max(0, to - from) / seconds;
  }

  /** Of the times between two moments; NaN if there are none. Linear within a range. */
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

  /** All rows, oldest first, as long ago by the wall clock as they are. */
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

  /** What all rows take in the heap, about. */
  long bytes() {
    long columnBytes = 16 + 4L * ROWS;
    return 16 + 8L * ROWS + columnBytes * (columns.length + 2L * peers.size());
  }
}
