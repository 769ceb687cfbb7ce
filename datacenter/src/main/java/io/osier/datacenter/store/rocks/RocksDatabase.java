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
  private final StoreCatalog catalog;
  private final OpenDatabase open;
  private final Pruner pruner;
  private final GapCompaction gaps;
  private final GroupBatch batch;
  private final BootId kernel;
  private final SnapshotLeases leases = new SnapshotLeases();
  private final DamagedRanges damage;

  /** Held while something is written, or a keyspace dropped. */
  private final ReentrantLock writing = new ReentrantLock();

  /** Whether something was written since {@link #flush} began last; it may be of a former life. */
  private volatile boolean unsynced = true;

  /**
   * Opens a store, or makes one.
   *
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
        kernel.write(); // after the header: until then the former run counts
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

  /** Whether it can only be read, because the disk was full when it was opened. */
  public boolean isReadOnly() {
    return readOnly;
  }

  /** What of the store is known to be damaged. */
  public DamagedRanges damage() {
    return damage;
  }

  // ---------------------------------------------------------------- identity

  /** The incarnation of this life. */
  public ReplicaId self() {
    return new ReplicaId(catalog.header().dc(), catalog.header().incarnation());
  }

  /** Counts the starts of this store, from 1. */
  public long life() {
    return catalog.header().life();
  }

  /** The random numbers of this start of the store and of those before it, newest first. */
  public List<Long> starts() {
    return catalog.starts();
  }

  /** Whether the incarnation of the last life goes on, because nothing can have been lost. */
  public boolean isResumed() {
    return catalog.isResumed();
  }

  /**
   * The versions of a partition.
   *
   * @throws OsierException CONFIGURATION if the store has other partitions of it
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
   * Drops all that it has of a keyspace; nothing of it may be written any more, and who still reads
   * of it is told that it is unknown. The disk has the room once the files that hold nothing else
   * are deleted, which is at once, and the others compacted, which is in the background.
   */
  public synchronized void drop(String keyspace) {
    writing.lock(); // what still comes of it is not written after it
    try {
      catalog.beginDrop(keyspace);
      open.change(db -> catalog.drop(keyspace, damage));
    } finally {
      writing.unlock();
    }
  }

  /** Every replica that a record may name. */
  public Collection<ReplicaId> replicas() {
    return replicas.all();
  }

  OpenDatabase open() {
    return open;
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

  /** Writes groups, altogether or not at all, as durably as configured. Only for one thread. */
  public void write(List<EncodedGroup> groups) {
    if (readOnly) {
      return; // no update is taken, so it is nothing that anybody was told
    }
    writing.lock();
    try {
      List<EncodedGroup> wanted =
          catalog.hasDropped()
              ? groups.stream().filter(g -> !catalog.isDropped(g.keys())).toList()
              : groups;
      open.change(db -> batch.write(wanted, settings.group()));
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
    return open.use(db -> gaps.step(System::nanoTime));
  }

  /**
   * Makes what was written durable, where writes do not do so by themselves. Only for one thread.
   *
   * @return whether there was anything
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

  /** What it tells of itself. */
  public StoreStatistics figures() {
    return open.use(db -> settings.statistics(db, gaps.gaps().skipped(), gaps.gaps().compacted()));
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

  /** Closes the store as a crash would; waits for those who use it. */
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
