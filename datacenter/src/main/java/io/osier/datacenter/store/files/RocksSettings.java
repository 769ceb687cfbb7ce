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

/** How RocksDB is set up, with the native objects that this needs. Closed after the database. */
public final class RocksSettings implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RocksSettings.class);

  /** Small: a search in a table in memory that the processor's caches hold costs half as much. */
  private static final long WRITE_BUFFER_BYTES = 8L << 20;

  private static final int WRITE_BUFFERS_MAX =
      (int) (StoreSettings.FLUSH_BYTES / WRITE_BUFFER_BYTES);

  /** Since the tables that are flushed are small, more of them are joined at once. */
  private static final int LEVEL_0_FILES = 8;

  /** As much as those have, so that joining them rewrites little. */
  private static final long LEVEL_BASE_BYTES = LEVEL_0_FILES * WRITE_BUFFER_BYTES;

  private static final long WAL_BYTES_MAX = 64L << 20;
  private static final long BLOCK_CACHE_BYTES = 64L << 20;

  /**
   * A table is compacted soon if of so many records one after the other three quarters are
   * tombstones: a page that begins in front of them has to go through them. As many as a queue
   * leaves within one write buffer; of fewer, few are met, and what is deleted here and there is no
   * reason to rewrite a level.
   */
  private static final int TOMBSTONES_WINDOW = 16_384;

  private static final int TOMBSTONES_MAX = TOMBSTONES_WINDOW * 3 / 4;

  private static final int OPEN_FILES_MAX = 512;
  private static final int BLOOM_BITS = 10;

  {
    RocksLibrary.load(); // before the first of what follows
  }

  private final LRUCache blocks = new LRUCache(BLOCK_CACHE_BYTES);
  private final BloomFilter bloom = new BloomFilter(BLOOM_BITS);

  /** Only by the number of tombstones: their share of a whole table says nothing (ratio 0). */
  private final TablePropertiesCollectorFactory tombstones =
      TablePropertiesCollectorFactory.NewCompactOnDeletionCollectorFactory(
          TOMBSTONES_WINDOW, TOMBSTONES_MAX, 0);

  /** Counts without times: what they cost cannot be measured. */
  private final Statistics statistics = new Statistics(EnumSet.allOf(HistogramType.class));

  private final Options options;
  private final BackgroundErrors errors;
  private final AtomicBoolean compacts;
  private final WriteOptions group;
  private final WriteOptions sync = new WriteOptions().setSync(true);
  private final WriteOptions lazy;

  /**
   * @param keepsConfirmed whether all that was confirmed before must be there: then what is damaged
   *     within the log is an error, and no end of the log
   * @param isDamaged whether damage is known: then RocksDB compacts nothing by itself
   * @param onError is told, by threads of RocksDB, during what something was found to be damaged
   *     that nobody has asked for, and RocksDB's words
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
            // What is replayed when the store is opened.
            .setMaxTotalWalSize(WAL_BYTES_MAX)
            .setMaxBackgroundJobs(2)
            .setKeepLogFileNum(2)
            .setMaxOpenFiles(OPEN_FILES_MAX)
            // A record that was confirmed must not vanish silently; a torn last one was not.
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
   * Hears of what fails in RocksDB's own threads. A full disk is none of it: RocksDB goes on by
   * itself when there is room.
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
   * From now on RocksDB compacts nothing by itself: it takes no write any more once a compaction
   * meets damage. Nor does it hold writes up then for tables that are not compacted.
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
   * Opens the database of a store with these settings, and makes it if it is not there. Closes them
   * if that fails.
   *
   * @throws OsierException CONFIGURATION if it cannot be made or belongs to another process, or
   *     what else RocksDB's error means
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
   * What a database with these settings tells of itself.
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

  /** For groups: as durable as configured when the write returns. */
  public WriteOptions group() {
    return group;
  }

  /** For what must be on the disk whatever the durability. */
  public WriteOptions sync() {
    return sync;
  }

  /** For what may be lost, but not out of its order. */
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
