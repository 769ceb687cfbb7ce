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
 * Runs a datacenter's store: one thread writes the groups of all partitions, so that what gathers
 * while the disk is busy is confirmed by one write; others read what is not in memory; one tidies
 * up and watches the disk. Thread-safe.
 */
public final class StoreService implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StoreService.class);
  private static final DateTimeFormatter BACKUP_NAME =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss-SSS", Locale.ROOT);
  private static final int READERS = 4;

  /** So long closing waits for those who tidy up and read, each. */
  private static final int CLOSE_SECONDS = 10;

  private static final long TIDY_MILLIS = 500;

  /** The figures name the others. */
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
   * @param budget for what is not yet written; partitions wait when it is spent
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
    tidier.setExecuteExistingDelayedTasksAfterShutdownPolicy(false); // whoever closes it waits
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
   * disk is full it is opened to be read, and says that it fails, with STORE_FULL, when there is
   * room again: then the datacenter is to be started anew.
   *
   * @param incarnationMin what this start is called where the store knows no later one, at least
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
        throw e; // with room it can be seen whether that is all
      }
      LOG.error(
          "the disk of {} is full: the store is opened to be read only, no update is taken"
              + " (STORE_FULL) and no other datacenter is heard until there is room: {}",
          dir,
          e.reason());
      return opened;
    }
  }

  /** Whether the disk has room for updates. */
  public DiskSpace disk() {
    return disk;
  }

  /** Who writes the partitions' groups. */
  public StoreThread writer() {
    return writer;
  }

  public RocksDatabase database() {
    return database;
  }

  /** What reads from the disk; its threads may wait. */
  public ExecutorService readers() {
    return readers;
  }

  /** Drops old versions. A disk that fails is tried again at once, and logged when that is news. */
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
      onFailure.accept(e); // the executor would keep it to itself, and never call this again
    }
  }

  /** Removes tombstones that walks have met; by a thread of its own, since it may take long. */
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
        LOG.error("what was deleted cannot be compacted, and walks that meet it stay slow", e);
      }
      if (e.code() == ErrorCode.STORE_DAMAGED) {
        onFailure.accept(e);
      }
    }
  }

  /** What cannot be read, in words, a line for each range; the first ones. */
  public List<String> damage() {
    return database.damage().all().stream()
        .limit(DAMAGE_TOLD_MAX)
        .map(
            range ->
                "the store is damaged: "
                    + range
                    + ": what is there is not served (STORE_DAMAGED), all else is; a restart"
                    + " fetches it from the peers where they have it, otherwise 'osier rebuild'"
                    + " does")
        .toList();
  }

  /** Whether the store can only be read, because the disk was full when it was opened. */
  public boolean isReadOnly() {
    return database.isReadOnly();
  }

  /**
   * A backup that was made.
   *
   * @param bytes of its files, which it shares with the store as long as that has them
   */
  public record Backup(Path path, long bytes) {}

  /**
   * Makes a backup of what is durable, while everything goes on.
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

  /** How often tidying up, compacting or looking at the disk has failed. */
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
   * Writes what was handed over and closes the store properly; as a crash would, if writing failed.
   * Those who read are waited for, for some time and unless this thread is interrupted; whoever
   * reads longer is told that the store is closed.
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
        LOG.warn("the store is closed while it is being read");
      }
    } catch (InterruptedException e) {
      interrupted = true;
    }
    try {
      if (writer.failure() == null) {
        database.close(); // whoever reads or not: what was acknowledged may be in memory only
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
