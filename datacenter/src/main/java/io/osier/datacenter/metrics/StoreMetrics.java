package io.osier.datacenter.metrics;

import static io.osier.datacenter.metrics.Metric.Type.COUNTER;
import static io.osier.datacenter.metrics.Metric.Type.GAUGE;
import static io.osier.datacenter.metrics.Metric.Type.HISTOGRAM;

import io.osier.datacenter.store.StoreStatistics;
import io.osier.propagation.host.DelayHistogram;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/** Metrics of the store on the disk; absent if nothing is stored. */
final class StoreMetrics {
  private static final long[] WRITE_BOUNDS_MICROS = {
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000
  };

  private final MetricList metrics;

  private StoreMetrics(MetricList metrics) {
    this.metrics = metrics;
  }

  /** Adds all these metrics, in the table's order. */
  static void addTo(MetricList metrics) {
    new StoreMetrics(metrics).store();
  }

  private void store() {
    ofStore(GAUGE, "full", "1 if updates are refused: the disk is full", s -> s.full() ? 1 : 0);
    ofStore(
        GAUGE,
        "damaged_ranges",
        "Damaged ranges of the store that reads have found",
        s -> s.damaged().size());
    ofStore(
        COUNTER,
        "damaged_reads",
        "Reads that failed because of damage",
        Snapshot.Store::failedReads);
    ofStore(
        COUNTER,
        "writes",
        "Group commits: writes to the disk, each with one fsync",
        Snapshot.Store::writes);
    ofStore(
        COUNTER,
        "groups",
        "Batches of partitions that were written by group commits",
        Snapshot.Store::groups);
    ofStore(COUNTER, "versions_dropped", "Old versions dropped", Snapshot.Store::versionsDropped);
    metrics.add(
        HISTOGRAM,
        "store_write_seconds",
        List.of(),
        "How long a write of groups took, fsync included",
        (s, to) -> s.store().ifPresent(store -> to.times(ranges(store.writeMicros()))));
    ofDatabase(GAUGE, "table_bytes", "Bytes of the tables", StoreStatistics::tableBytes);
    ofDatabase(
        GAUGE,
        "memtable_bytes",
        "Bytes in memory that are not in a table yet",
        StoreStatistics::memtableBytes);
    ofDatabase(
        GAUGE,
        "block_cache_bytes",
        "Bytes in the cache of tables' blocks",
        StoreStatistics::blockCacheBytes);
    ofDatabase(
        COUNTER,
        "block_cache_hits",
        "Blocks found in the cache of tables' blocks",
        StoreStatistics::blockCacheHits);
    ofDatabase(
        COUNTER, "block_cache_misses", "Blocks read from files", StoreStatistics::blockCacheMisses);
    ofDatabase(
        GAUGE,
        "level_zero_files",
        "Tables that compaction has not merged yet",
        StoreStatistics::levelZeroFiles);
    ofDatabase(
        GAUGE,
        "compaction_pending_bytes",
        "Bytes that compaction still has to rewrite",
        StoreStatistics::compactionPendingBytes);
    ofDatabase(
        GAUGE,
        "compactions_running",
        "Compactions that run now",
        StoreStatistics::compactionsRunning);
    ofDatabase(
        COUNTER,
        "compaction_read_bytes",
        "Bytes that compactions have read",
        StoreStatistics::compactionReadBytes);
    ofDatabase(
        COUNTER,
        "compaction_written_bytes",
        "Bytes that compactions have written",
        StoreStatistics::compactionWrittenBytes);
    ofDatabase(
        COUNTER,
        "tombstones_met",
        "RocksDB's records of deletions that iterations had to step over, where they were many",
        StoreStatistics::tombstonesMet);
    ofDatabase(
        COUNTER,
        "gap_compactions",
        "Compactions that were started to remove many such records of deletions"
            + " (store_tombstones_met)",
        StoreStatistics::gapCompactions);
    ofDatabase(
        COUNTER,
        "flushed_bytes",
        "Bytes written from memory to tables",
        StoreStatistics::flushedBytes);
    ofDatabase(
        COUNTER, "log_bytes", "Bytes written to the write-ahead log", StoreStatistics::logBytes);
    ofDatabase(
        COUNTER, "log_syncs", "How often the log was synchronised", StoreStatistics::logSyncs);
    ofDatabase(
        COUNTER,
        "stall_seconds",
        "How long writes were delayed because compaction lagged",
        d -> d.stallMicros() / 1e6);
    ofDatabase(
        GAUGE,
        "writes_stopped",
        "1 while writes are stopped because compaction lags",
        d -> d.writesStopped() ? 1 : 0);
  }

  private static DelayHistogram ranges(Histogram micros) {
    long[] counts = new long[WRITE_BOUNDS_MICROS.length + 1];
    long above = 0;
    for (int i = 0; i < WRITE_BOUNDS_MICROS.length; i++) {
      counts[i] = micros.getCountBetweenValues(above, WRITE_BOUNDS_MICROS[i]);
      above = micros.nextNonEquivalentValue(WRITE_BOUNDS_MICROS[i]);
    }
    long counted = Arrays.stream(counts).sum();
    counts[WRITE_BOUNDS_MICROS.length] = micros.getTotalCount() - counted;
    return DelayHistogram.counted(
        WRITE_BOUNDS_MICROS, counts, Math.round(micros.getMean() * micros.getTotalCount()));
  }

  private void ofStore(
      Metric.Type type, String name, String help, ToDoubleFunction<Snapshot.Store> of) {
    metrics.add(
        type,
        "store_" + name,
        List.of(),
        help,
        (s, to) -> s.store().ifPresent(store -> to.number(of.applyAsDouble(store))));
  }

  private void ofDatabase(
      Metric.Type type, String name, String help, ToDoubleFunction<StoreStatistics> of) {
    ofStore(type, name, help, store -> of.applyAsDouble(store.database()));
  }
}
