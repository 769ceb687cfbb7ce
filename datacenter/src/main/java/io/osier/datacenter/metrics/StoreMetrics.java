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
        "Ranges that cannot be read, as far as a read has met them",
        s -> s.damaged().size());
    ofStore(
        COUNTER,
        "damaged_reads",
        "Reads that failed because of damage",
        Snapshot.Store::failedReads);
    ofStore(COUNTER, "writes", "Writes of groups to the disk", Snapshot.Store::writes);
    ofStore(COUNTER, "groups", "Partitions' groups in them", Snapshot.Store::groups);
    ofStore(COUNTER, "versions_dropped", "Old versions dropped", Snapshot.Store::versionsDropped);
    metrics.add(
        HISTOGRAM,
        "store_write_seconds",
        List.of(),
        "How long a write of groups took, fsync included",
        (s, to) -> s.store().ifPresent(store -> to.times(ranges(store.writeMicros()))));
    ofDatabase(GAUGE, "table_bytes", "Bytes of the tables", StoreStatistics::tableBytes);
    ofDatabase(
        GAUGE, "memtable_bytes", "In memory, not in a table yet", StoreStatistics::memtableBytes);
    ofDatabase(
        GAUGE,
        "block_cache_bytes",
        "What the cache of tables' blocks holds",
        StoreStatistics::blockCacheBytes);
    ofDatabase(COUNTER, "block_cache_hits", "Blocks found in it", StoreStatistics::blockCacheHits);
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
        "What compaction has to rewrite until the tree is in shape",
        StoreStatistics::compactionPendingBytes);
    ofDatabase(
        GAUGE, "compactions_running", "Compactions now", StoreStatistics::compactionsRunning);
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
        "Records of what was deleted that walks went through, where those were many",
        StoreStatistics::tombstonesMet);
    ofDatabase(
        COUNTER,
        "gap_compactions",
        "Compactions that removed these",
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
        "How long writes had to wait for compaction",
        d -> d.stallMicros() / 1e6);
    ofDatabase(
        GAUGE,
        "writes_stopped",
        "1 while writes wait for compaction",
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
