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
 * Counts the tombstones that walks go through, and compacts where they are many: those that are not
 * in a table yet, and those of tables that nothing else compacts. Thread-safe.
 */
final class GapCompaction {
  private final RocksDB db;
  private final TombstoneRanges gaps = new TombstoneRanges();
  private @Nullable CompactRangeOptions running;
  private boolean cancelled;

  GapCompaction(RocksDB db) {
    this.db = db;
  }

  /** How many tombstones this thread has gone through; a difference of two tells of a walk. */
  long tombstones() {
    try (PerfContext counts = db.getPerfContext()) { // of this thread, and counted in any case
      return counts.getInternalDeleteSkippedCount();
    }
  }

  TombstoneRanges gaps() {
    return gaps;
  }

  /**
   * A walk has ended.
   *
   * @param from where it began
   * @param to where it is now, which may be in front of that
   * @param before what {@link #tombstones} of this thread told when it began
   * @param came how many records it came to
   */
  void walked(byte[] from, Supplier<byte[]> to, long before, long came) {
    long skipped = tombstones() - before;
    if (TombstoneRanges.isMany(skipped, came)) {
      gaps.met(TombstoneRanges.Range.between(from, to.get()), skipped);
    }
  }

  /**
   * Compacts the next range where walks have met many tombstones, if it is time; waits for it.
   *
   * @return whether there was one
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
        ends(); // before they are closed, and nobody may touch them
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

  /** Ends what is under way, soon, and lets nothing begin. */
  synchronized void cancel() {
    cancelled = true;
    if (running != null) {
      running.setCanceled(true);
    }
  }
}
