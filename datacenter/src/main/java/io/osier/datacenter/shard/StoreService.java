package io.osier.datacenter.shard;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.memory.Budget;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.config.MemoryPlan;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.store.StoreSettings;
import io.osier.datacenter.store.files.StoreFiles;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.propagation.net.LogThrottle;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a datacenter's store: one thread writes the groups of all partitions, so that one write
 * confirms all groups that gather while the disk is busy; others read objects that are not in
 * memory; one tidies up and watches the disk. Thread-safe.
 */
public final class StoreService implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StoreService.class);
  private static final DateTimeFormatter BACKUP_NAME =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss-SSS", Locale.ROOT);
  private static final int READERS = 4;

  /** How long closing waits for the tidying thread and for the readers, in seconds each. */
  private static final int CLOSE_SECONDS = 10;

  private static final long TIDY_MILLIS = 500;

  /** The most damaged ranges that are told in words; metrics count them all. */
  private static final int DAMAGE_TOLD_MAX = 10;

  private static final String TIDYING = "tidying";
  private static final String COMPACTING = "compacting";
  private final RocksDatabase database;
  private final StoreSettings settings;
  private final Path dir;
  private final Consumer<Throwable> onFailure;
  private final DiskSpace disk;
  private final StoreThread writer;
  private final ExecutorService readers;
  private final ScheduledThreadPoolExecutor tidier;
  private final AtomicInteger readerNumber = new AtomicInteger();
  private final LongAdder pruned = new LongAdder();
  private final LogThrottle trouble = new LogThrottle();
  private final LongAdder failedAttempts = new LongAdder();

  /**
   * Starts the threads.
   *
   * @param budget for groups that are not yet written; partitions wait when it is spent
   * @param onFailure is told, by any thread, that the store cannot go on
   */
  public StoreService(
      RocksDatabase database,
      StoreSettings settings,
      Path dir,
      Budget budget,
      Consumer<Throwable> onFailure) {
    this.database = database;
    this.settings = settings;
    this.dir = dir;
    this.onFailure = onFailure;
    if (settings.minFreeBytes() < settings.leastFreeBytes()) {
      LOG.warn(
          "osier.store.min-free is {} bytes, and updates are refused below {} bytes all the same:"
              + " what is in memory must find room when it is written, or the process would end",
          settings.minFreeBytes(),
          settings.leastFreeBytes());
    }
    this.disk = new DiskSpace(dir, settings.leastFreeBytes(), database.isReadOnly(), onFailure);
    this.writer =
        new StoreThread(
            database, settings.durability() == StoreSettings.Durability.SYNC, budget, onFailure);
    this.readers =
        Executors.newFixedThreadPool(
            READERS,
            r ->
                Thread.ofPlatform()
                    .name("osier-reader-" + readerNumber.incrementAndGet())
                    .daemon(true)
                    .unstarted(r));
    this.tidier =
        new ScheduledThreadPoolExecutor(
            1, r -> Thread.ofPlatform().name("osier-tidier").daemon(true).unstarted(r));
    tidier.setExecuteExistingDelayedTasksAfterShutdownPolicy(false); // close() waits for this
    disk.watch(tidier);
    tidier.scheduleWithFixedDelay(this::tidy, TIDY_MILLIS, TIDY_MILLIS, TimeUnit.MILLISECONDS);
  }

  @FunctionalInterface
  public interface Opener {
    /** See {@link RocksDatabase#open}. */
    RocksDatabase open(
        Path dir, StoreSettings.Durability durability, String cluster, String dc, long minimum);
  }

  /**
   * Opens the store of a datacenter that has a directory for it, and starts the threads. If its
   * disk is full, the store is opened for reading only, and reports a failure, STORE_FULL, when
   * there is room again: the datacenter must then be started anew.
   *
   * @param incarnationMin the least incarnation of this start; the store may know a later one
   */
  public static StoreService open(
      DatacenterConfig config, long incarnationMin, Opener opener, Consumer<Throwable> onFailure) {
    Path dir = config.store().dir().orElseThrow();
    Budget unwritten = new Budget("unwritten updates", MemoryPlan.ofThisProcess().unwrittenBytes());
    return new StoreService(
        database(config, dir, incarnationMin, opener), config.store(), dir, unwritten, onFailure);
  }

  private static RocksDatabase database(
      DatacenterConfig config, Path dir, long incarnationMin, Opener opener) {
    StoreSettings.Durability durability = config.store().durability();
    StoreRepair.mend(config, dir);
    try {
      return opener.open(dir, durability, config.cluster(), config.dc(), incarnationMin);
    } catch (OsierException e) {
      if (e.code() != ErrorCode.STORE_FULL) {
        throw e;
      }
      RocksDatabase opened;
      try {
        opened = RocksDatabase.openReadOnly(dir, durability, config.cluster(), config.dc());
      } catch (OsierException unreadable) {
        e.addSuppressed(unreadable);
        throw e; // another fault, too, shows only when there is room
      }
      LOG.error(
          "the disk of {} is full: the store is opened to be read only, no update is taken"
              + " (STORE_FULL) and no other datacenter is heard until there is room: {}",
          dir,
          e.reason());
      return opened;
    }
  }

  /** Returns the watch on the disk's room. */
  public DiskSpace disk() {
    return disk;
  }

  /** Returns the thread that writes the partitions' groups. */
  public StoreThread writer() {
    return writer;
  }

  public RocksDatabase database() {
    return database;
  }

  /** Returns the executor for reads from the disk; its threads may wait. */
  public ExecutorService readers() {
    return readers;
  }

  /**
   * Drops old versions. If the disk fails, the next turn tries again; the first failure is logged.
   */
  void tidy() {
    try {
      pruned.add(database.prune());
      database.flush();
      if (database.hasGap()) {
        Thread.ofPlatform().name("osier-compactor").daemon(true).start(this::compactGap);
      }
      if (trouble.end(TIDYING)) {
        LOG.info("removing expired and obsolete data from the store works again");
      }
    } catch (RuntimeException e) {
      failedAttempts.increment();
      if (trouble.isNews(TIDYING, e.toString())) {
        LOG.error("removing expired and obsolete data from the store failed; it is tried again", e);
      }
      if (e instanceof OsierException o && o.code() == ErrorCode.STORE_DAMAGED) {
        onFailure.accept(e);
      }
    } catch (Error e) {
      onFailure.accept(e); // the executor would swallow the error, and not call this method again
    }
  }

  /** Removes tombstones that walks have met; in a thread of its own, since it may take long. */
  private void compactGap() {
    try {
      boolean unused = database.compactGap();
      trouble.end(COMPACTING);
    } catch (OsierException e) {
      if (e.code() == ErrorCode.SHUTTING_DOWN) {
        return;
      }
      failedAttempts.increment();
      if (trouble.isNews(COMPACTING, e.toString())) {
        LOG.error("the compaction of deleted records failed; iterations over them stay slow", e);
      }
      if (e.code() == ErrorCode.STORE_DAMAGED) {
        onFailure.accept(e);
      }
    }
  }

  /** Returns the ranges that cannot be read, in words, a line each; the first ones only. */
  public List<String> damage() {
    return database.damage().all().stream()
        .limit(DAMAGE_TOLD_MAX)
        .map(
            range ->
                "the store is damaged: "
                    + range
                    + ": what is there is not served (STORE_DAMAGED), all else is; a restart"
                    + " fetches it from the peers if they have it, otherwise run 'osier rebuild'")
        .toList();
  }

  /** Returns whether the store is open for reading only, because the disk was full. */
  public boolean isReadOnly() {
    return database.isReadOnly();
  }

  /**
   * A finished backup.
   *
   * @param bytes of its files, which it shares with the store as long as the store keeps them
   */
  public record Backup(Path path, long bytes) {}

  /**
   * Makes a backup of all durable data, while everything goes on.
   *
   * @param name empty for the time of day
   * @return fails with INVALID_ARGUMENT for a wrong name, STORE_FULL if it cannot be written
   */
  public CompletableFuture<Backup> backup(Optional<String> name) {
    return CompletableFuture.supplyAsync(
        () -> {
          String chosen =
              name.orElseGet(() -> BACKUP_NAME.format(Instant.now().atOffset(ZoneOffset.UTC)));
          Path path = StoreFiles.backup(dir, chosen);
          disk.checkRoom();
          database.backup(path);
          Backup made = new Backup(path.toAbsolutePath(), StoreFiles.bytes(path));
          LOG.info("backup: {} ({} bytes)", made.path, made.bytes);
          return made;
        },
        readers);
  }

  /** Returns how often tidying, compacting or a look at the disk has failed. */
  public long failedAttempts() {
    return failedAttempts.sum() + disk.failedAttempts();
  }

  public Snapshot.Store figures() {
    return new Snapshot.Store(
        settings.durability().name().toLowerCase(Locale.ROOT),
        disk.isFull(),
        database.damage().all(),
        database.damage().failedReads(),
        writer.writes(),
        writer.groupsWritten(),
        pruned.sum(),
        writer.writeMicros(),
        database.figures());
  }

  /**
   * Writes all groups that were handed over and closes the store properly; leaves it like a crash
   * would if writing has failed. Waits for readers, for some time and unless this thread is
   * interrupted; later reads are told that the store is closed.
   */
  @Override
  public void close() {
    boolean interrupted = writer.close();
    tidier.shutdown();
    readers.shutdown();
    try {
      boolean quiet =
          !interrupted
              && tidier.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)
              && readers.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
      if (!quiet) {
        LOG.warn("the store was closed while it was being read");
      }
    } catch (InterruptedException e) {
      interrupted = true;
    }
    try {
      if (writer.failure() == null) {
        // Whether or not readers have ended: acknowledged updates may be in memory only.
        database.close();
      } else {
        LOG.warn("the store is not closed properly");
        database.closeUnclean();
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
