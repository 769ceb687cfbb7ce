package io.osier.datacenter.store.rocks;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.datacenter.store.DamagedRanges;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.StoreStatistics;
import io.osier.datacenter.store.files.BootId;
import io.osier.datacenter.store.files.RocksSettings;
import io.osier.datacenter.store.files.StoreErrors;
import io.osier.datacenter.store.files.StoreFiles;
import io.osier.datacenter.store.records.EncodedGroup;
import io.osier.datacenter.store.records.RecordKeys;
import io.osier.datacenter.store.records.ReplicaNumbers;
import io.osier.datacenter.store.records.StartNumbers;
import io.osier.datacenter.store.records.StoreHeader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.rocksdb.Checkpoint;
import org.rocksdb.FlushOptions;
import org.rocksdb.LiveFileMetaData;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.TickerType;
import org.rocksdb.WriteBatch;

/**
 * A datacenter's data in one RocksDB: the records of all its partitions share one log, so that one
 * write to the disk serves all of them. Thread-safe; one thread writes groups.
 *
 * <p>All records are in one column family: what a crash leaves is then a prefix of what was
 * written, whatever the durability.
 */
public final class RocksDatabase implements AutoCloseable {
  private final Path dir;
  private final boolean readOnly;

  /** Whether damage was met before, and was not mended. */
  private final boolean wasDamaged;

  private final Durability durability;
  private final RocksSettings settings;
  private final RocksDB db;
  private final ReplicaNumbers replicas = new ReplicaNumbers();
  private final Pruner pruner;
  private final GapCompaction gaps;
  private final GroupBatch batch;
  private final BootId kernel;
  private final SnapshotLeases leases = new SnapshotLeases();
  private final DamagedRanges damage;
  private final boolean resumed;
  private final StartNumbers starts;
  private volatile StoreHeader header;

  /** Held while something is written, or a keyspace dropped. */
  private final ReentrantLock writing = new ReentrantLock();

  /** The numbers of partitions that were dropped in this life, and are not given again in it. */
  private final Set<Integer> dropped = ConcurrentHashMap.newKeySet();

  /** Shared by those who use the database, and held alone to close it. */
  private final ReentrantReadWriteLock open = new ReentrantReadWriteLock();

  private boolean closed;

  /** Whether something was written since {@link #flush} began last; it may be of a former life. */
  private volatile boolean unsynced = true;

  /**
   * Opens a store, or makes one.
   *
   * @param incarnationMin a new incarnation is at least this
   * @throws OsierException CONFIGURATION if it belongs to another datacenter or process, or a later
   *     version has written it, STORE_DAMAGED if it cannot be read
   */
  public static RocksDatabase open(
      Path dir, Durability durability, String cluster, String dc, long incarnationMin) {
    return new RocksDatabase(dir, durability, cluster, dc, incarnationMin, false);
  }

  /**
   * Opens a store to read it, where it cannot be written because its disk is full. The last life
   * goes on, as it were: nothing may be done in it that has a number, nor told to others. What is
   * written is lost.
   *
   * @throws OsierException as {@link #open}; STORE_FULL if nothing was ever written
   */
  public static RocksDatabase openReadOnly(
      Path dir, Durability durability, String cluster, String dc) {
    return new RocksDatabase(dir, durability, cluster, dc, 1, true);
  }

  private RocksDatabase(
      Path dir,
      Durability durability,
      String cluster,
      String dc,
      long incarnationMin,
      boolean readOnly) {
    this.dir = dir;
    this.readOnly = readOnly;
    this.durability = durability;
    this.wasDamaged = Files.exists(StoreFiles.damageNote(dir));
    this.damage = new DamagedRanges(StoreFiles.damageNote(dir));
    this.kernel = BootId.of(dir);
    boolean isSameRun = kernel.isSameRun();
    this.settings =
        new RocksSettings(
            durability,
            durability == Durability.SYNC || isSameRun,
            wasDamaged,
            this::backgroundError);
    this.db = openDatabase();
    this.gaps = new GapCompaction(db);
    this.pruner = new Pruner(db, replicas, settings.lazy(), gaps, this::unreadable);
    this.batch = new GroupBatch(db, replicas, pruner);
    boolean opened = false;
    try {
      Optional<StoreHeader> before =
          Optional.ofNullable(db.get(RecordKeys.header())).map(StoreHeader::decode);
      before.ifPresent(b -> b.checkBelongsTo(dir, cluster, dc));
      replicas.read(db::get);
      Optional<StartNumbers> told =
          Optional.ofNullable(db.get(RecordKeys.starts())).map(StartNumbers::decode);
      this.starts = StartNumbers.with(new SecureRandom().nextLong(1, Long.MAX_VALUE), told);
      if (readOnly) {
        this.resumed = true;
        this.header = before.orElseThrow(() -> nothingToRead(dir));
      } else {
        this.resumed = before.filter(b -> b.keepsIncarnation(isSameRun)).isPresent();
        this.header =
            StoreHeader.ofNextLife(before, cluster, dc, durability, incarnationMin, isSameRun);
        try (WriteBatch life = new WriteBatch()) {
          life.put(RecordKeys.starts(), starts.encode());
          life.put(RecordKeys.header(), header.encode());
          db.write(settings.sync(), life);
        }
        kernel.write(); // after the header: until then the former run counts
      }
      opened = true;
    } catch (RocksDBException e) {
      throw failure(e);
    } catch (MalformedException e) {
      throw damaged(e);
    } finally {
      if (!opened) {
        closeUnclean();
      }
    }
  }

  private RocksDB openDatabase() {
    RocksDB opened = null;
    try {
      Files.createDirectories(dir);
      StoreFiles.checkRestored(dir);
      StoreErrors.checkFiles(dir);
      String path = StoreFiles.database(dir).toString();
      opened =
          readOnly
              ? RocksDB.openReadOnly(settings.options(), path)
              : RocksDB.open(settings.options(), path);
      return opened;
    } catch (IOException e) {
      throw new OsierException(
          ErrorCode.CONFIGURATION, "osier.store.dir: cannot make " + dir + ": " + e, e);
    } catch (RocksDBException e) {
      throw failure(e);
    } finally {
      if (opened == null) {
        settings.close();
      }
    }
  }

  private static OsierException nothingToRead(Path dir) {
    return new OsierException(
        ErrorCode.STORE_FULL,
        "the disk of " + dir + " is full, and nothing is stored there yet; make room on the disk");
  }

  /** Whether it can only be read, because the disk was full when it was opened. */
  public boolean isReadOnly() {
    return readOnly;
  }

  private void writeHeader(StoreHeader header) throws RocksDBException {
    db.put(settings.sync(), RecordKeys.header(), header.encode());
  }

  /** An error of RocksDB, with what to do about it. */
  OsierException failure(RocksDBException e) {
    return StoreErrors.of(dir, e);
  }

  /** What of the store is known to be damaged. */
  public DamagedRanges damage() {
    return damage;
  }

  /** A flush or a compaction has failed, which nobody has asked for: nobody else would be told. */
  private void backgroundError(String during, String message) {
    damage.met("in the background (" + during + ")", message);
  }

  /** Who prunes has met an error: from damage it goes on without what it read. */
  void unreadable(RecordKeys partition, RocksDBException e) throws RocksDBException {
    if (failure(e).code() != ErrorCode.STORE_DAMAGED) {
      throw e;
    }
    met(nameOf(partition), String.valueOf(e.getMessage()));
  }

  /** An error of an open database, which is reported if it is damage. */
  private OsierException met(Optional<RecordKeys> partition, OsierException error) {
    Throwable cause = error.getCause();
    if (error.code() == ErrorCode.STORE_DAMAGED && cause != null) {
      String message = String.valueOf(cause.getMessage());
      met(partition.map(this::nameOf).orElseGet(() -> partitionsOf(message)), message);
    }
    return error;
  }

  /** Somebody who reads an open database has met damage. */
  private void met(String where, String message) {
    damage.met(where, message);
    if (!readOnly) {
      settings.endCompactions(db);
    }
  }

  private String nameOf(RecordKeys partition) {
    return header.nameOf(partition.partition());
  }

  /** The partitions that have records in the file that an error names. */
  private String partitionsOf(String message) {
    String file = DamagedRanges.fileOf(message);
    for (LiveFileMetaData live : file.isEmpty() ? List.<LiveFileMetaData>of() : liveFiles()) {
      if (live.fileName().endsWith(file)) {
        return header.nameOf(RecordKeys.partitionOf(live.smallestKey()))
            + " to "
            + header.nameOf(RecordKeys.partitionOf(live.largestKey()));
      }
    }
    return "the store";
  }

  private List<LiveFileMetaData> liveFiles() {
    return db.getLiveFilesMetaData();
  }

  /** What it means that a record cannot be decoded. */
  OsierException damaged(Exception e) {
    return StoreErrors.damaged(dir, e);
  }

  // ---------------------------------------------------------------- identity

  /** The incarnation of this life. */
  public ReplicaId self() {
    return new ReplicaId(header.dc(), header.incarnation());
  }

  /** Counts the starts of this store, from 1. */
  public long life() {
    return header.life();
  }

  /** The random numbers of this start of the store and of those before it, newest first. */
  public List<Long> starts() {
    return starts.numbers();
  }

  /** Whether the incarnation of the last life goes on, because nothing can have been lost. */
  public boolean isResumed() {
    return resumed;
  }

  /**
   * The versions of a partition.
   *
   * @throws OsierException CONFIGURATION if the store has another number of partitions of it
   */
  public synchronized RocksVersions partition(String keyspace, int partition, int partitions) {
    change(
        open -> {
          StoreHeader with =
              header.withPartitions(dir, keyspace, partitions, isUsed(keyspace), dropped);
          if (!with.partitions().equals(header.partitions())) {
            if (!readOnly) {
              writeHeader(with);
            }
            header = with;
          }
        });
    return new RocksVersions(this, new RecordKeys(header.numberOf(keyspace, partition)));
  }

  /** The keyspaces of which it has partitions. */
  public synchronized Set<String> keyspaces() {
    return header.keyspaces();
  }

  /**
   * Drops all that it has of a keyspace; nothing of it may be written any more, and who still reads
   * of it is told that it is unknown. The disk has the room once the files that hold nothing else
   * are deleted, which is at once, and the others compacted, which is in the background.
   */
  public synchronized void drop(String keyspace) {
    writing.lock(); // what still comes of it is not written after it
    try {
      // Before anything is deleted: who still reads of it must not take what is left for all.
      for (int i = 0; i < header.partitionsOf(keyspace); i++) {
        dropped.add(header.numberOf(keyspace, i));
      }
      change(open -> drop(open, keyspace));
    } finally {
      writing.unlock();
    }
  }

  private void drop(RocksDB open, String keyspace) throws RocksDBException {
    StoreHeader without = header.without(keyspace);
    List<byte[]> ranges = new ArrayList<>();
    try (WriteBatch deletions = new WriteBatch()) {
      for (int i = 0; i < header.partitionsOf(keyspace); i++) {
        int number = header.numberOf(keyspace, i);
        byte[] from = RecordKeys.partitionBegin(number);
        byte[] to = RecordKeys.partitionBegin(number + 1);
        deletions.deleteRange(from, to);
        ranges.add(from);
        ranges.add(to);
        damage.gone(header.nameOf(number));
      }
      deletions.put(RecordKeys.header(), without.encode());
      open.write(settings.sync(), deletions);
    }
    header = without;
    if (!ranges.isEmpty()) {
      open.deleteFilesInRanges(open.getDefaultColumnFamily(), ranges, false);
    }
  }

  /** Whether anything was ever written of a keyspace. */
  private boolean isUsed(String keyspace) throws RocksDBException {
    for (int i = 0; i < header.partitionsOf(keyspace); i++) {
      if (db.get(new RecordKeys(header.numberOf(keyspace, i)).state()) != null) {
        return true;
      }
    }
    return false;
  }

  /** Every replica that a record may name. */
  public Collection<ReplicaId> replicas() {
    return replicas.all();
  }

  RecordKeys.Dictionary dictionary() {
    return replicas;
  }

  /** What walks tell of the tombstones that they have met. */
  GapCompaction gaps() {
    return gaps;
  }

  /** The snapshots that readers of decomposed objects have. */
  public SnapshotLeases leases() {
    return leases;
  }

  // ---------------------------------------------------------------- writing

  /** What is read of an open database. */
  @FunctionalInterface
  interface Use<T> {
    T of(RocksDB db) throws RocksDBException;
  }

  /** What is done with an open database. */
  @FunctionalInterface
  private interface Change {
    void in(RocksDB db) throws RocksDBException;
  }

  /** As {@link #use}, where nothing comes of it. */
  private void change(Change change) {
    boolean unused =
        use(
            open -> {
              change.in(open);
              return true;
            });
  }

  /**
   * Uses the database, which is not closed meanwhile: RocksDB would go on with freed memory.
   *
   * @throws OsierException what the store's errors mean; SHUTTING_DOWN if it is closed
   */
  <T> T use(Use<T> use) {
    return use(Optional.empty(), use);
  }

  /** As {@link #use(Use)}, of a partition, which is named where it is damaged. */
  <T> T useOf(RecordKeys partition, Use<T> use) {
    return use(Optional.of(partition), use);
  }

  private <T> T use(Optional<RecordKeys> partition, Use<T> use) {
    open.readLock().lock();
    try {
      if (closed) {
        throw new OsierException(ErrorCode.SHUTTING_DOWN, "the store in " + dir + " is closed");
      }
      return use.of(db);
    } catch (RocksDBException e) {
      throw dropped(partition) ? failure(e) : met(partition, failure(e));
    } catch (MalformedException e) {
      throw dropped(partition) ? damaged(e) : met(partition, damaged(e));
    } finally {
      open.readLock().unlock();
    }
  }

  /**
   * As {@link #use}, of what clients are shown of a partition.
   *
   * @throws OsierException UNKNOWN_KEYSPACE if that was dropped: files are deleted whoever reads,
   *     so what was found may lack anything
   */
  <T> T use(RecordKeys partition, Use<T> use) {
    T found;
    try {
      found = useOf(partition, use);
    } catch (OsierException e) {
      checkThere(partition); // what it met may be no damage
      throw e;
    }
    checkThere(partition); // after it was read: before that tells nothing
    return found;
  }

  /** Whether it was dropped: what is met of it then may be no damage. */
  private boolean dropped(Optional<RecordKeys> partition) {
    return partition.map(p -> dropped.contains(p.partition())).orElse(false);
  }

  /** Throws UNKNOWN_KEYSPACE if a partition was dropped. */
  void checkThere(RecordKeys partition) {
    if (dropped.contains(partition.partition())) {
      throw new OsierException(
          ErrorCode.UNKNOWN_KEYSPACE, "the keyspace was dropped before all was read of it");
    }
  }

  /** Writes groups, altogether or not at all, as durably as configured. Only for one thread. */
  public void write(List<EncodedGroup> groups) {
    if (readOnly) {
      return; // no update is taken, so it is nothing that anybody was told
    }
    writing.lock();
    try {
      List<EncodedGroup> wanted =
          dropped.isEmpty()
              ? groups
              : groups.stream().filter(g -> !dropped.contains(g.keys().partition())).toList();
      change(open -> batch.write(wanted, settings.group()));
    } finally {
      unsynced = true; // after it: a flush that came before has not seen it
      writing.unlock();
    }
  }

  /**
   * Drops versions that the newest snapshots of their objects contain, and ends what readers have
   * had for long; a background task.
   *
   * @return how many versions were dropped
   */
  public int prune() {
    int dropped =
        use(
            open -> {
              leases.endOver(open, System.nanoTime());
              return readOnly ? 0 : pruner.prune();
            });
    if (dropped > 0) {
      unsynced = true;
    }
    return dropped;
  }

  /**
   * Whether walks have met many tombstones, and {@link #compactGap} would remove them now. Where
   * damage is known nothing is compacted: RocksDB takes no write any more once that meets it.
   */
  public boolean hasGap() {
    return !readOnly && !wasDamaged && damage.isEmpty() && gaps.gaps().isDue(System.nanoTime());
  }

  /**
   * Compacts what walks have met many tombstones in, if it is time: a background task that may take
   * long, and ends when the store is closed. Of several at the same time one does something.
   *
   * @return whether there was something to do
   */
  public boolean compactGap() {
    return use(open -> gaps.step(System::nanoTime));
  }

  /**
   * Makes what was written durable, where writes do not do so by themselves. Only for one thread.
   *
   * @return whether there was anything
   */
  public boolean flush() {
    return use(
        open -> {
          if (readOnly || durability != Durability.ASYNC || !unsynced) {
            return false;
          }
          unsynced = false;
          try {
            open.syncWal();
          } catch (RocksDBException e) {
            unsynced = true;
            kernel.forget();
            throw e;
          }
          return true;
        });
  }

  /** What it tells of itself. */
  public StoreStatistics figures() {
    return use(
        open ->
            new StoreStatistics(
                open.getLongProperty("rocksdb.total-sst-files-size"),
                open.getLongProperty("rocksdb.cur-size-all-mem-tables"),
                open.getLongProperty("rocksdb.block-cache-usage"),
                settings.count(TickerType.BLOCK_CACHE_HIT),
                settings.count(TickerType.BLOCK_CACHE_MISS),
                Long.parseLong(open.getProperty("rocksdb.num-files-at-level0")),
                open.getLongProperty("rocksdb.estimate-pending-compaction-bytes"),
                open.getLongProperty("rocksdb.num-running-compactions"),
                settings.count(TickerType.COMPACT_READ_BYTES),
                settings.count(TickerType.COMPACT_WRITE_BYTES),
                gaps.gaps().skipped(),
                gaps.gaps().compacted(),
                settings.count(TickerType.FLUSH_WRITE_BYTES),
                settings.count(TickerType.WAL_FILE_BYTES),
                settings.count(TickerType.WAL_FILE_SYNCED),
                settings.count(TickerType.STALL_MICROS),
                open.getLongProperty("rocksdb.is-write-stopped") != 0));
  }

  /**
   * Makes a consistent copy while everything goes on; hard links where the file system has them.
   *
   * @param to must not exist
   * @throws OsierException STORE_DAMAGED if some of it is known to be damaged: the copy would be,
   *     too
   */
  public void backup(Path to) {
    if (!damage.isEmpty()) {
      throw new OsierException(
          ErrorCode.STORE_DAMAGED,
          "the store in "
              + dir
              + " is damaged ("
              + damage.all().getFirst()
              + "), and so would be a backup of it: none was made");
    }
    change(
        open -> {
          try (Checkpoint checkpoint = Checkpoint.create(open)) {
            Files.createDirectories(to.getParent());
            if (durability == Durability.NONE) {
              flushTables();
            }
            checkpoint.createCheckpoint(to.toString());
          } catch (IOException e) {
            throw new OsierException(
                ErrorCode.STORE_FULL, "cannot make " + to + ": " + e.getMessage(), e);
          }
        });
  }

  /** For tests that write and damage what no group would. */
  public RocksDB db() {
    return db;
  }

  private void flushTables() throws RocksDBException {
    try (FlushOptions wait = new FlushOptions().setWaitForFlush(true)) {
      db.flush(wait);
    }
  }

  /** Closes the store properly: its incarnation can go on. No group may be written any more. */
  @Override
  public void close() {
    gaps.cancel();
    if (readOnly) {
      closeUnclean();
      return;
    }
    try {
      change(
          open -> {
            flushTables();
            writeHeader(header.closed());
          });
    } finally {
      closeUnclean();
    }
  }

  /** Closes the store as a crash would; waits for those who use it. */
  public void closeUnclean() {
    gaps.cancel();
    open.writeLock().lock();
    try {
      if (!closed) {
        closed = true;
        leases.endAll(db);
        db.close();
        settings.close();
      }
    } finally {
      open.writeLock().unlock();
    }
  }
}
