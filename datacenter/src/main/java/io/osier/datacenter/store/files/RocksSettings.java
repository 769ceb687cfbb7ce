package io.osier.datacenter.store.files;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.datacenter.store.StoreSettings;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.StoreStatistics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.rocksdb.AbstractEventListener;
import org.rocksdb.BackgroundErrorReason;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.ChecksumType;
import org.rocksdb.CompressionType;
import org.rocksdb.HistogramType;
import org.rocksdb.LRUCache;
import org.rocksdb.MutableColumnFamilyOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Statistics;
import org.rocksdb.StatsLevel;
import org.rocksdb.Status;
import org.rocksdb.TablePropertiesCollectorFactory;
import org.rocksdb.TickerType;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The settings of RocksDB, with the native objects that they need. Closed after the database. */
public final class RocksSettings implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RocksSettings.class);

  /** Small: searching a table in memory costs half as much if it fits the processor's caches. */
  private static final long WRITE_BUFFER_BYTES = 8L << 20;

  private static final int WRITE_BUFFERS_MAX =
      (int) (StoreSettings.FLUSH_BYTES / WRITE_BUFFER_BYTES);

  /** As flushed tables are small, more of them are merged at once. */
  private static final int LEVEL_0_FILES = 8;

  /** As large as these tables together, so that merging them rewrites little. */
  private static final long LEVEL_BASE_BYTES = LEVEL_0_FILES * WRITE_BUFFER_BYTES;

  private static final long WAL_BYTES_MAX = 64L << 20;
  private static final long BLOCK_CACHE_BYTES = 64L << 20;

  /**
   * A table is compacted soon if three quarters of this many consecutive records are tombstones, as
   * a page that begins before them has to go through them. A queue leaves that many within one
   * write buffer. Fewer cost little, and scattered deletions are no reason to rewrite a level.
   */
  private static final int TOMBSTONES_WINDOW = 16_384;

  private static final int TOMBSTONES_MAX = TOMBSTONES_WINDOW * 3 / 4;

  private static final int OPEN_FILES_MAX = 512;
  private static final int BLOOM_BITS = 10;

  {
    RocksLibrary.load(); // before any native object is made
  }

  private final LRUCache blocks = new LRUCache(BLOCK_CACHE_BYTES);
  private final BloomFilter bloom = new BloomFilter(BLOOM_BITS);

  /** By the number of tombstones only: their share of a whole table says nothing (ratio 0). */
  private final TablePropertiesCollectorFactory tombstones =
      TablePropertiesCollectorFactory.NewCompactOnDeletionCollectorFactory(
          TOMBSTONES_WINDOW, TOMBSTONES_MAX, 0);

  /** Counters without histograms: their cost cannot be measured. */
  private final Statistics statistics = new Statistics(EnumSet.allOf(HistogramType.class));

  private final Options options;
  private final BackgroundErrors errors;
  private final AtomicBoolean compacts;
  private final WriteOptions group;
  private final WriteOptions sync = new WriteOptions().setSync(true);
  private final WriteOptions lazy;

  /**
   * @param keepsConfirmed whether everything confirmed before must be there: then damage within the
   *     log is an error, and does not count as the log's end
   * @param isDamaged whether damage is known: then RocksDB compacts nothing by itself
   * @param onError is told, in RocksDB's threads, of damage found in its background work: which
   *     work, and RocksDB's words
   */
  public RocksSettings(
      Durability durability,
      boolean keepsConfirmed,
      boolean isDamaged,
      BiConsumer<String, String> onError) {
    BlockBasedTableConfig table =
        new BlockBasedTableConfig()
            .setBlockCache(blocks)
            .setFilterPolicy(bloom)
            .setChecksumType(ChecksumType.kXXH3)
            .setCacheIndexAndFilterBlocks(false);
    statistics.setStatsLevel(StatsLevel.EXCEPT_DETAILED_TIMERS);
    this.options =
        new Options()
            .setCreateIfMissing(true)
            .setStatistics(statistics)
            .setParanoidChecks(true)
            .setTableFormatConfig(table)
            .setCompressionType(CompressionType.LZ4_COMPRESSION)
            .setWriteBufferSize(WRITE_BUFFER_BYTES)
            .setMaxWriteBufferNumber(WRITE_BUFFERS_MAX)
            .setDisableAutoCompactions(isDamaged)
            .setLevel0FileNumCompactionTrigger(LEVEL_0_FILES)
            .setMaxBytesForLevelBase(LEVEL_BASE_BYTES)
            // The log that an opening of the store replays.
            .setMaxTotalWalSize(WAL_BYTES_MAX)
            .setMaxBackgroundJobs(2)
            .setKeepLogFileNum(2)
            .setMaxOpenFiles(OPEN_FILES_MAX)
            // A confirmed record must not vanish silently; a torn last record was never confirmed.
            .setWalRecoveryMode(
                keepsConfirmed
                    ? WALRecoveryMode.TolerateCorruptedTailRecords
                    : WALRecoveryMode.PointInTimeRecovery);
    options.setTablePropertiesCollectorFactory(List.of(tombstones));
    this.errors = new BackgroundErrors(onError);
    options.setListeners(List.of(errors));
    this.compacts = new AtomicBoolean(!isDamaged);
    boolean noLog = durability == Durability.NONE;
    this.group = new WriteOptions().setSync(durability == Durability.SYNC).setDisableWAL(noLog);
    this.lazy = new WriteOptions().setDisableWAL(noLog);
  }

  /**
   * Listens to failures in RocksDB's own threads. A full disk is none: RocksDB goes on by itself
   * when there is room.
   */
  private static final class BackgroundErrors extends AbstractEventListener {
    private final BiConsumer<String, String> onError;

    BackgroundErrors(BiConsumer<String, String> onError) {
      super(EnabledEventCallback.ON_BACKGROUND_ERROR);
      this.onError = onError;
    }

    @Override
    public void onBackgroundError(BackgroundErrorReason reason, Status status) {
      boolean isFull = status.getSubCode() == Status.SubCode.NoSpace;
      if (!isFull) {
        String during = reason.name().toLowerCase(Locale.ROOT);
        onError.accept(during, status.getCodeString() + ": " + status.getState());
      }
    }
  }

  /**
   * Stops RocksDB's own compactions: one that meets damage would make it refuse all writes. Writes
   * are then not slowed down for uncompacted tables either.
   */
  public void endCompactions(RocksDB db) {
    if (compacts.getAndSet(false)) {
      try {
        db.setOptions(MutableColumnFamilyOptions.builder().setDisableAutoCompactions(true).build());
      } catch (RocksDBException e) {
        compacts.set(true); // the next read that meets damage tries again
        LOG.warn("compactions go on, and may meet the damage", e);
      }
    }
  }

  /**
   * Opens the database of a store with these settings, and creates it if there is none. Closes the
   * settings if that fails.
   *
   * @throws OsierException CONFIGURATION if it cannot be created or is open in another process;
   *     otherwise the error into which RocksDB's is translated
   */
  public RocksDB open(Path dir, boolean readOnly) {
    RocksDB opened = null;
    try {
      Files.createDirectories(dir);
      StoreFiles.checkRestored(dir);
      StoreErrors.checkFiles(dir);
      String path = StoreLayout.database(dir).toString();
      opened = readOnly ? RocksDB.openReadOnly(options, path) : RocksDB.open(options, path);
      return opened;
    } catch (IOException e) {
      throw new OsierException(
          ErrorCode.CONFIGURATION, "osier.store.dir: cannot make " + dir + ": " + e, e);
    } catch (RocksDBException e) {
      throw StoreErrors.of(dir, e);
    } finally {
      if (opened == null) {
        close();
      }
    }
  }

  /**
   * Returns the statistics of a database with these settings.
   *
   * @param skipped tombstones that walks have gone through
   * @param compacted how often ranges were compacted because of them
   */
  public StoreStatistics statistics(RocksDB db, long skipped, long compacted)
      throws RocksDBException {
    return new StoreStatistics(
        db.getLongProperty("rocksdb.total-sst-files-size"),
        db.getLongProperty("rocksdb.cur-size-all-mem-tables"),
        db.getLongProperty("rocksdb.block-cache-usage"),
        count(TickerType.BLOCK_CACHE_HIT),
        count(TickerType.BLOCK_CACHE_MISS),
        Long.parseLong(db.getProperty("rocksdb.num-files-at-level0")),
        db.getLongProperty("rocksdb.estimate-pending-compaction-bytes"),
        db.getLongProperty("rocksdb.num-running-compactions"),
        count(TickerType.COMPACT_READ_BYTES),
        count(TickerType.COMPACT_WRITE_BYTES),
        skipped,
        compacted,
        count(TickerType.FLUSH_WRITE_BYTES),
        count(TickerType.WAL_FILE_BYTES),
        count(TickerType.WAL_FILE_SYNCED),
        count(TickerType.STALL_MICROS),
        db.getLongProperty("rocksdb.is-write-stopped") != 0);
  }

  private long count(TickerType of) {
    return statistics.getTickerCount(of);
  }

  public Options options() {
    return options;
  }

  /** Returns the options for groups: durable as configured when the write returns. */
  public WriteOptions group() {
    return group;
  }

  /** Returns the options for records that must be on the disk whatever the durability. */
  public WriteOptions sync() {
    return sync;
  }

  /** Returns the options for records that may be lost, though not out of order. */
  public WriteOptions lazy() {
    return lazy;
  }

  @Override
  public void close() {
    group.close();
    sync.close();
    lazy.close();
    options.close();
    errors.close();
    statistics.close();
    tombstones.close();
    bloom.close();
    blocks.close();
  }
}
