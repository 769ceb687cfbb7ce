package io.osier.datacenter.store.rocks;

import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rocksdb.CompactRangeOptions;
import org.rocksdb.PerfContext;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/**
 * Counts the tombstones that walks go through, and compacts ranges with many: tombstones that are
 * not in a table yet, and those of tables that nothing else compacts. Thread-safe.
 */
final class GapCompaction {
  private final RocksDB db;
  private final TombstoneRanges gaps = new TombstoneRanges();
  private @Nullable CompactRangeOptions running;
  private boolean cancelled;

  GapCompaction(RocksDB db) {
    this.db = db;
  }

  /**
   * Returns how many tombstones this thread has gone through; the difference of two values belongs
   * to a walk.
   */
  long tombstones() {
    try (PerfContext counts = db.getPerfContext()) { // of this thread
      return counts.getInternalDeleteSkippedCount();
    }
  }

  TombstoneRanges gaps() {
    return gaps;
  }

  /**
   * Takes note of a walk that has ended.
   *
   * @param from the key at which it began
   * @param to returns the key at which it is now, which may be before the beginning
   * @param before the value of {@link #tombstones} when it began
   * @param came how many records it found
   */
  void walked(byte[] from, Supplier<byte[]> to, long before, long came) {
    long skipped = tombstones() - before;
    if (TombstoneRanges.isMany(skipped, came)) {
      gaps.met(TombstoneRanges.Range.between(from, to.get()), skipped);
    }
  }

  /**
   * Compacts the next range with many tombstones, if it is time; waits for the end.
   *
   * @return whether there was such a range
   */
  boolean step(LongSupplier nanos) throws RocksDBException {
    Optional<TombstoneRanges.Range> range = gaps.begin(nanos.getAsLong());
    if (range.isEmpty()) {
      return false;
    }
    try (CompactRangeOptions options =
        new CompactRangeOptions().setExclusiveManualCompaction(false)) {
      try {
        if (begins(options)) {
          db.compactRange(
              db.getDefaultColumnFamily(), range.get().from(), range.get().to(), options);
        }
      } finally {
        ends(); // before the options are closed, after which nobody may use them
      }
    } catch (RocksDBException e) {
      if (!isCancelled()) {
        throw e;
      }
    } finally {
      gaps.end(nanos.getAsLong());
    }
    return true;
  }

  private synchronized boolean begins(CompactRangeOptions options) {
    running = options;
    return !cancelled;
  }

  private synchronized void ends() {
    running = null;
  }

  private synchronized boolean isCancelled() {
    return cancelled;
  }

  /** Cancels the present compaction, which ends soon, and lets no other begin. */
  synchronized void cancel() {
    cancelled = true;
    if (running != null) {
      running.setCanceled(true);
    }
  }
}
