package io.osier.datacenter.store.rocks;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
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
import io.osier.datacenter.store.records.StoreHeader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.rocksdb.Checkpoint;
import org.rocksdb.FlushOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/**
 * A datacenter's data in one RocksDB: the records of all its partitions share one log, so that one
 * write to the disk serves all of them. Thread-safe; one thread writes groups.
 *
 * <p>All records are in one column family: a crash then leaves a prefix of the writes, whatever the
 * durability.
 */
public final class RocksDatabase implements AutoCloseable {
  private final Path dir;
  private final boolean readOnly;

  /** Whether damage was met before this start, and was not mended. */
  private final boolean wasDamaged;

  private final Durability durability;
  private final RocksSettings settings;
  private final RocksDB db;
  private final ReplicaNumbers replicas = new ReplicaNumbers();
  private final StoreCatalog catalog;
  private final OpenDatabase open;
  private final Pruner pruner;
  private final GapCompaction gaps;
  private final GroupBatch batch;
  private final BootId kernel;
  private final SnapshotLeases leases = new SnapshotLeases();
  private final DamagedRanges damage;

  /** Held while records are written, or a keyspace is dropped. */
  private final ReentrantLock writing = new ReentrantLock();

  /** Whether there were writes since {@link #flush} last began, or before this start. */
  private volatile boolean unsynced = true;

  /**
   * Opens a store, or creates one.
   *
   * @throws OsierException CONFIGURATION if it belongs to another datacenter or process, or a later
   *     version has written it, STORE_DAMAGED if it cannot be read
   */
  public static RocksDatabase open(
      Path dir, Durability durability, String cluster, String dc, long incarnationMin) {
    return new RocksDatabase(dir, durability, cluster, dc, incarnationMin, false);
  }

  /**
   * Opens a store for reading only, because its disk is full. It does not count as a new start: no
   * update may be numbered, and nothing told to other datacenters. Writes are lost.
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
    this.damage =
        new DamagedRanges(System::currentTimeMillis, Optional.of(StoreFiles.damageNote(dir)));
    this.kernel = BootId.of(dir);
    boolean isSameRun = kernel.isSameRun();
    this.settings =
        new RocksSettings(
            durability,
            durability == Durability.SYNC || isSameRun,
            wasDamaged,
            (during, message) -> damage.met("in the background (" + during + ")", message));
    this.db = settings.open(dir, readOnly);
    boolean opened = false;
    try {
      Optional<StoreHeader> before =
          Optional.ofNullable(db.get(RecordKeys.header())).map(StoreHeader::decode);
      before.ifPresent(b -> b.checkBelongsTo(dir, cluster, dc));
      replicas.read(db::get);
      if (readOnly) {
        this.catalog = StoreCatalog.ofLastLife(db, settings, dir, before);
      } else {
        StoreHeader next =
            StoreHeader.ofNextLife(before, cluster, dc, durability, incarnationMin, isSameRun);
        boolean resumes = before.filter(b -> b.keepsIncarnation(isSameRun)).isPresent();
        this.catalog = StoreCatalog.ofNextLife(db, settings, dir, next, resumes);
        kernel.write(); // after the header: until then the last run of the operating system counts
      }
      opened = true;
    } catch (RocksDBException e) {
      throw StoreErrors.of(dir, e);
    } catch (MalformedException e) {
      throw StoreErrors.damaged(dir, e);
    } finally {
      if (!opened) {
        db.close();
        settings.close();
      }
    }
    this.open =
        new OpenDatabase(
            db, dir, catalog, damage, readOnly ? () -> {} : () -> settings.endCompactions(db));
    this.gaps = new GapCompaction(db);
    this.pruner = new Pruner(db, replicas, settings.lazy(), gaps, open::unreadable);
    this.batch = new GroupBatch(db, replicas, pruner);
  }

  /** Returns whether the store is open for reading only, because its disk was full. */
  public boolean isReadOnly() {
    return readOnly;
  }

  /** Returns the known damage of the store. */
  public DamagedRanges damage() {
    return damage;
  }

  // ---------------------------------------------------------------- identity

  /** Returns this datacenter's incarnation. */
  public ReplicaId self() {
    return new ReplicaId(catalog.header().dc(), catalog.header().incarnation());
  }

  /** Returns the number of this start of the store, from 1. */
  public long life() {
    return catalog.header().life();
  }

  /** Returns the random numbers of this start of the store and of earlier ones, newest first. */
  public List<Long> starts() {
    return catalog.starts();
  }

  /** Returns whether the last start's incarnation goes on, because nothing can have been lost. */
  public boolean isResumed() {
    return catalog.isResumed();
  }

  /**
   * Returns the versions of a partition.
   *
   * @throws OsierException CONFIGURATION if the store has other partitions of the keyspace
   */
  public synchronized RocksVersions partition(
      String keyspace, int partition, Partitioning partitioning) {
    int number = open.use(db -> catalog.numberOf(keyspace, partition, partitioning));
    return new RocksVersions(this, new RecordKeys(number));
  }

  public synchronized Set<String> keyspaces() {
    return catalog.header().keyspaces();
  }

  /**
   * Deletes all data of a keyspace; nothing of it may be written any more, and those who still read
   * get UNKNOWN_KEYSPACE. Files that hold nothing else are deleted at once, which frees their room
   * on the disk; the others are compacted in the background.
   */
  public synchronized void drop(String keyspace) {
    writing.lock(); // late groups of the keyspace are not written after this
    try {
      catalog.beginDrop(keyspace);
      open.change(db -> catalog.drop(keyspace, damage));
    } finally {
      writing.unlock();
    }
  }

  /** Returns every replica that a record may name. */
  public Collection<ReplicaId> replicas() {
    return replicas.all();
  }

  OpenDatabase open() {
    return open;
  }

  RecordKeys.Dictionary dictionary() {
    return replicas;
  }

  /** Returns the count of tombstones that walks have met. */
  GapCompaction gaps() {
    return gaps;
  }

  /** Returns the leases of readers of decomposed objects. */
  public SnapshotLeases leases() {
    return leases;
  }

  // ---------------------------------------------------------------- writing

  /** Writes groups, all or none, as durably as configured. Only for one thread. */
  public void write(List<EncodedGroup> groups) {
    if (readOnly) {
      return; // no updates are taken, so nobody was told of any
    }
    writing.lock();
    try {
      List<EncodedGroup> wanted =
          catalog.hasDropped()
              ? groups.stream().filter(g -> !catalog.isDropped(g.keys())).toList()
              : groups;
      open.change(db -> batch.write(wanted, settings.group()));
    } finally {
      unsynced = true; // after the write: an earlier flush has not seen it
      writing.unlock();
    }
  }

  /**
   * Drops versions that their object's newest snapshot contains, and ends old leases; a background
   * task.
   *
   * @return how many versions were dropped
   */
  public int prune() {
    int dropped =
        open.use(
            db -> {
              leases.endOver(db, System.nanoTime());
              return readOnly ? 0 : pruner.prune();
            });
    if (dropped > 0) {
      unsynced = true;
    }
    return dropped;
  }

  /**
   * Returns whether walks have met many tombstones that {@link #compactGap} would remove now. Where
   * damage is known nothing is compacted: a compaction that meets damage makes RocksDB refuse all
   * writes.
   */
  public boolean hasGap() {
    return !readOnly && !wasDamaged && damage.isEmpty() && gaps.gaps().isDue(System.nanoTime());
  }

  /**
   * Compacts a range in which walks have met many tombstones, if it is time: a background task that
   * may take long, and ends when the store is closed. If several threads call this at once, one
   * compacts.
   *
   * @return whether there was something to do
   */
  public boolean compactGap() {
    return open.use(db -> gaps.step(System::nanoTime));
  }

  /**
   * Makes earlier writes durable, if writes are not durable by themselves. Only for one thread.
   *
   * @return whether there were any
   */
  public boolean flush() {
    return open.use(
        db -> {
          if (readOnly || durability != Durability.ASYNC || !unsynced) {
            return false;
          }
          unsynced = false;
          try {
            db.syncWal();
          } catch (RocksDBException e) {
            unsynced = true;
            kernel.forget();
            throw e;
          }
          return true;
        });
  }

  /** Returns the database's statistics. */
  public StoreStatistics figures() {
    return open.use(db -> settings.statistics(db, gaps.gaps().skipped(), gaps.gaps().compacted()));
  }

  /**
   * Makes a consistent copy while everything goes on; hard links where the file system has them.
   *
   * @param to must not exist
   * @throws OsierException STORE_DAMAGED if damage is known: the copy would have it, too
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
    open.change(
        db -> {
          try (Checkpoint checkpoint = Checkpoint.create(db)) {
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

  /** For tests, which write or damage records as no group would. */
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
    if (readOnly || open.isClosed()) {
      closeUnclean();
      return;
    }
    try {
      open.change(
          db -> {
            flushTables();
            catalog.writeClosed();
          });
    } finally {
      closeUnclean();
    }
  }

  /** Closes the store as a crash would leave it; waits for threads that use it. */
  public void closeUnclean() {
    gaps.cancel();
    open.close(
        () -> {
          leases.endAll(db);
          db.close();
          settings.close();
        });
  }
}
