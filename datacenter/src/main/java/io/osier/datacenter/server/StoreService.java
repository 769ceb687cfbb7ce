package io.osier.datacenter.server;

import io.osier.core.Budget;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.config.MemoryPlan;
import io.osier.datacenter.figures.Snapshot;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.EncodedGroup;
import io.osier.datacenter.store.GroupQueue;
import io.osier.datacenter.store.GroupWriter;
import io.osier.datacenter.store.RocksDatabase;
import io.osier.datacenter.store.RocksVersions;
import io.osier.datacenter.store.StoreFiles;
import io.osier.datacenter.store.StoreSettings;
import io.osier.datacenter.store.StoreWriter;
import io.osier.propagation.transport.SaidOnce;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
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
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a datacenter's store: one thread writes the groups of all partitions, so that what gathers
 * while the disk is busy is confirmed by one write; others read what is not in memory; one tidies
 * up and watches the disk. Thread-safe.
 */
final class StoreService implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StoreService.class);
  private static final DateTimeFormatter BACKUP_NAME =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss-SSS", Locale.ROOT);
  private static final int READERS = 4;

  /** So long closing waits for those who tidy up and read, each. */
  private static final int CLOSE_SECONDS = 10;

  private static final long WRITE_MICROS_MAX = 3_600_000_000L;
  private static final long TIDY_MILLIS = 500;
  private static final long WATCH_MILLIS = 200;

  /** How often the disk is looked at where there is plenty of room. */
  private static final long WATCH_SELDOM_MILLIS = 1_000;

  /** So much more than the least free space is plenty: no disk writes it within a second. */
  private static final long PLENTY_BYTES = 16L << 30;

  /** Who helps writes so often, and leaves the rest to the store's thread. */
  private static final int HELPED_WRITES = 4;

  /** A write that takes longer waits for the disk, as others may for a while. */
  private static final long SLOW_NANOS = 2_000_000;

  private static final long SLOW_FOR_NANOS = 100_000_000;

  /** The figures name the others. */
  private static final int DAMAGE_TOLD_MAX = 10;

  /** A store that can only be read is tried again after so long: it may not be for want of room. */
  private static final long READ_ONLY_NANOS = 5_000_000_000L;

  private static final String TIDYING = "tidying";
  private static final String COMPACTING = "compacting";
  private static final String WATCHING = "watching";

  /** Above the least free space by this factor updates are taken again. */
  private static final double FREE_AGAIN = 1.1;

  private final RocksDatabase database;
  private final StoreSettings settings;
  private final Path dir;
  private final Consumer<Throwable> onFailure;
  private final GroupQueue<EncodedGroup> groups;
  private final StoreWriter<EncodedGroup> writer;
  private final Thread thread;
  private final ExecutorService readers;
  private final ScheduledThreadPoolExecutor tidier;
  private final AtomicInteger readerNumber = new AtomicInteger();
  private final LongAdder writes = new LongAdder();
  private final LongAdder groupsWritten = new LongAdder();
  private final LongAdder pruned = new LongAdder();
  private final Recorder writeMicros = new Recorder(WRITE_MICROS_MAX, 2);
  private final Histogram allWriteMicros = new Histogram(WRITE_MICROS_MAX, 2);
  private final SaidOnce trouble = new SaidOnce();
  private final LongAdder failedAttempts = new LongAdder();
  private final WriteHelp help = new Help();
  private final long beganNanos = System.nanoTime();

  /** Until then nobody helps to write. */
  private volatile long slowUntilNanos = System.nanoTime();

  /** Where the store is, once that was found; for the tidier's thread. */
  private @Nullable FileStore disk;

  private volatile boolean full;
  private volatile @Nullable Throwable failure;

  /**
   * Starts the threads.
   *
   * @param budget for what is not yet written; partitions wait when it is spent
   * @param onFailure is told, by any thread, that the store cannot go on
   */
  StoreService(
      RocksDatabase database,
      StoreSettings settings,
      Path dir,
      Budget budget,
      Consumer<Throwable> onFailure) {
    this.database = database;
    this.settings = settings;
    this.dir = dir;
    this.onFailure = onFailure;
    this.full = database.isReadOnly();
    this.groups = new GroupQueue<>(budget);
    this.writer = new StoreWriter<>(groups);
    this.thread = Thread.ofPlatform().name("osier-store").daemon(true).start(this::run);
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
    watch();
    tidier.scheduleWithFixedDelay(this::tidy, TIDY_MILLIS, TIDY_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Opens a store. */
  @FunctionalInterface
  interface Opener {
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
   * @param onFailure is told, by any thread, that the store cannot go on
   */
  static StoreService open(
      DatacenterConfig config, long incarnationMin, Opener opener, Consumer<Throwable> onFailure) {
    Path dir = config.store().dir().orElseThrow();
    Budget unwritten = new Budget("unwritten updates", MemoryPlan.ofThisProcess().unwrittenBytes());
    return new StoreService(
        database(config, dir, incarnationMin, opener), config.store(), dir, unwritten, onFailure);
  }

  private static RocksDatabase database(
      DatacenterConfig config, Path dir, long incarnationMin, Opener opener) {
    StoreSettings.Durability durability = config.store().durability();
    Mending.mend(config, dir);
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
          e.getMessage());
      return opened;
    }
  }

  RocksDatabase database() {
    return database;
  }

  /** What reads from the disk; its threads may wait. */
  ExecutorService readers() {
    return readers;
  }

  /** The way of one partition's groups to the disk. */
  GroupWriter writerOf(RocksVersions partition) {
    return new GroupWriter() {
      @Override
      public void write(Group group) {
        // Encoded by the partition's thread: the one that waits for the disk has enough to do.
        EncodedGroup records = partition.encode(group.changes());
        groups.put(records, records.bytes() + group.heldBytes(), group.written());
      }

      @Override
      public Runnable someTime(List<Change> changes) {
        EncodedGroup records = partition.encode(changes);
        return () -> groups.offer(records, records.bytes(), () -> {});
      }
    };
  }

  private void run() {
    while (groups.await()) {
      takeTurn();
    }
  }

  /** Writes what has gathered; the turn has been taken. */
  private void takeTurn() {
    try {
      writer.step(this::write);
    } catch (Throwable e) {
      // Nothing of the batch, or after it, is confirmed to anybody, and nobody waits for it.
      failure = e;
      groups.fail();
      LOG.error("the store cannot be written any more; the datacenter stops", e);
      onFailure.accept(e);
    } finally {
      groups.endTurn();
    }
  }

  /**
   * How those who run a partition in front of its thread help to write. They wait for no disk:
   * where each write does (durability sync), or the last one was slow, they leave it to the store's
   * thread.
   */
  WriteHelp help() {
    return help;
  }

  private final class Help implements WriteHelp {
    /** How many begins have had no end, of each thread. */
    private final ThreadLocal<Integer> begun = ThreadLocal.withInitial(() -> 0);

    @Override
    public boolean begin() {
      if (!groups.beginHelping()) {
        return false;
      }
      begun.set(begun.get() + 1);
      return true;
    }

    @Override
    public void end() {
      int others = begun.get() - 1;
      begun.set(others);
      boolean leaves = others == 0; // otherwise the last end sees to it
      for (int i = 0; leaves && i < HELPED_WRITES && isQuick(); i++) {
        if (groups.tryTurn()) {
          takeTurn();
        } else {
          leaves = false;
        }
      }
      groups.endHelping(leaves);
    }

    private boolean isQuick() {
      return settings.durability() != StoreSettings.Durability.SYNC
          && System.nanoTime() - slowUntilNanos >= 0;
    }
  }

  private void write(List<EncodedGroup> batch) {
    long began = System.nanoTime();
    List<EncodedGroup> changes = batch.stream().filter(g -> !g.isEmpty()).toList();
    if (!changes.isEmpty()) {
      database.write(changes);
      writes.increment();
      groupsWritten.add(changes.size());
      long ended = System.nanoTime();
      writeMicros.recordValue(Math.max(1, (ended - began) / 1_000));
      if (ended - began > SLOW_NANOS) {
        slowUntilNanos = ended + SLOW_FOR_NANOS;
      }
    }
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
        LOG.info("tidying up the store works again");
      }
    } catch (RuntimeException e) {
      failedAttempts.increment();
      if (trouble.isNews(TIDYING, e.toString())) {
        LOG.error("tidying up the store failed, and is tried again", e);
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

  /** Looks whether the disk is full, and again later. */
  private void watch() {
    long pauseMillis = WATCH_MILLIS;
    try {
      pauseMillis = look();
      trouble.end(WATCHING);
    } catch (IOException e) {
      disk = null;
      failedAttempts.increment();
      if (trouble.isNews(WATCHING, e.toString())) {
        LOG.warn("cannot see how much space {} has, and look again: {}", dir, e.getMessage());
      }
    } finally {
      try {
        var unused = tidier.schedule(this::watch, pauseMillis, TimeUnit.MILLISECONDS);
      } catch (RejectedExecutionException e) {
        LOG.debug("the store is closed", e);
      }
    }
  }

  /** Looks whether the disk is full. Returns when to look again. */
  private long look() throws IOException {
    FileStore there = disk;
    if (there == null) {
      there = Files.getFileStore(dir); // reads all mounts
      disk = there;
    }
    long free = there.getUsableSpace();
    if (database.isReadOnly()) {
      if (free >= settings.minFreeBytes() * FREE_AGAIN
          && System.nanoTime() - beganNanos > READ_ONLY_NANOS) {
        onFailure.accept(
            new OsierException(
                ErrorCode.STORE_FULL,
                "the disk of "
                    + dir
                    + " was full, and has room again: the datacenter starts anew"));
      }
      return WATCH_MILLIS;
    }
    boolean now =
        free < (full ? (long) (settings.minFreeBytes() * FREE_AGAIN) : settings.minFreeBytes());
    if (now != full) {
      full = now;
      if (now) {
        LOG.error(
            "the disk of {} has {} bytes free, less than osier.store.min-free ({}): updates are"
                + " refused until there is more; reads go on",
            dir,
            free,
            settings.minFreeBytes());
      } else {
        LOG.info("the disk of {} has room again: updates are taken", dir);
      }
    }
    return free - settings.minFreeBytes() > PLENTY_BYTES ? WATCH_SELDOM_MILLIS : WATCH_MILLIS;
  }

  /** What cannot be read, in words, a line for each range; the first ones. */
  List<String> damage() {
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
  boolean isReadOnly() {
    return database.isReadOnly();
  }

  /** Whether updates, also those of peers, must be refused because the disk is full. */
  boolean isFull() {
    return full;
  }

  /**
   * Throws if updates must be refused.
   *
   * @throws OsierException STORE_FULL
   */
  void checkRoom() {
    if (full) {
      throw new OsierException(
          ErrorCode.STORE_FULL,
          "the disk of this datacenter is full: nothing was done; reads go on, and updates do when"
              + " there is room again");
    }
  }

  /**
   * A backup that was made.
   *
   * @param path its directory
   * @param bytes of its files, which it shares with the store as long as that has them
   */
  record Backup(Path path, long bytes) {}

  /**
   * Makes a backup of what is durable, while everything goes on.
   *
   * @param name empty for the time of day
   * @return fails with INVALID_ARGUMENT for a wrong name, STORE_FULL if it cannot be written
   */
  CompletableFuture<Backup> backup(Optional<String> name) {
    return CompletableFuture.supplyAsync(
        () -> {
          String chosen =
              name.orElseGet(() -> BACKUP_NAME.format(Instant.now().atOffset(ZoneOffset.UTC)));
          Path path = StoreFiles.backup(dir, chosen);
          checkRoom();
          database.backup(path);
          Backup made = new Backup(path.toAbsolutePath(), StoreFiles.bytes(path));
          LOG.info("backup: {} ({} bytes)", made.path, made.bytes);
          return made;
        },
        readers);
  }

  /** Writes to the disk so far. */
  long writes() {
    return writes.sum();
  }

  /** Groups of partitions in them. */
  long groupsWritten() {
    return groupsWritten.sum();
  }

  /** How often tidying up, compacting or looking at the disk has failed. */
  long failedAttempts() {
    return failedAttempts.sum();
  }

  /** Old versions dropped. */
  long pruned() {
    return pruned.sum();
  }

  /** How long writes took since the start, in microseconds; a copy. */
  synchronized Histogram writeMicros() {
    allWriteMicros.add(writeMicros.getIntervalHistogram());
    return allWriteMicros.copy();
  }

  /** How durable an acknowledged update is. */
  String durability() {
    return settings.durability().name().toLowerCase(Locale.ROOT);
  }

  /** What it is doing. */
  Snapshot.Store figures() {
    return new Snapshot.Store(
        durability(),
        full,
        database.damage().all(),
        database.damage().failedReads(),
        writes(),
        groupsWritten(),
        pruned(),
        writeMicros(),
        database.figures());
  }

  /**
   * Writes what was handed over and closes the store properly; as a crash would, if writing failed.
   * Those who read are waited for, for some time and unless this thread is interrupted; whoever
   * reads longer is told that the store is closed.
   */
  @Override
  public void close() {
    groups.close();
    boolean interrupted = joinWriter();
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
      if (failure == null) {
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

  /**
   * Waits until everything is written, or cannot be.
   *
   * @return whether this thread was interrupted, and does not know of it any more
   */
  private boolean joinWriter() {
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        return interrupted;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
  }
}
