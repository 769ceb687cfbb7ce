package io.osier.datacenter.store;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.datacenter.store.StoreSettings.Durability;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
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
  private final Durability durability;
  private final RocksSettings settings;
  private final RocksDB db;
  private final ReplicaNumbers replicas = new ReplicaNumbers();
  private final Pruner pruner;
  private final GroupBatch batch;
  private StoreHeader header;
  private final boolean resumed;

  /**
   * Opens a store, or makes one.
   *
   * @param incarnationMin a new incarnation is at least this
   * @throws OsierException CONFIGURATION if it belongs to another datacenter or process,
   *     STORE_DAMAGED if it cannot be read
   */
  public static RocksDatabase open(
      Path dir, Durability durability, String cluster, String dc, long incarnationMin) {
    return new RocksDatabase(dir, durability, cluster, dc, incarnationMin);
  }

  private RocksDatabase(
      Path dir, Durability durability, String cluster, String dc, long incarnationMin) {
    this.dir = dir;
    this.durability = durability;
    this.settings = new RocksSettings(durability);
    this.db = openDatabase();
    this.pruner = new Pruner(db, replicas, settings.lazy());
    this.batch = new GroupBatch(db, replicas, pruner);
    boolean opened = false;
    try {
      Optional<StoreHeader> before =
          Optional.ofNullable(db.get(RecordKeys.header())).map(StoreHeader::decode);
      before.ifPresent(b -> b.checkBelongsTo(dir, cluster, dc));
      replicas.read(db::get);
      this.resumed = before.filter(StoreHeader::keepsIncarnation).isPresent();
      this.header = StoreHeader.ofNextLife(before, cluster, dc, durability, incarnationMin);
      writeHeader(header);
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
      StoreErrors.checkFiles(dir);
      opened = RocksDB.open(settings.options(), StoreFiles.database(dir).toString());
      return opened;
    } catch (IOException e) {
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          "osier.store.dir: cannot make " + dir + ": " + e.getMessage(),
          e);
    } catch (RocksDBException e) {
      throw failure(e);
    } finally {
      if (opened == null) {
        settings.close();
      }
    }
  }

  private void writeHeader(StoreHeader header) throws RocksDBException {
    db.put(settings.sync(), RecordKeys.header(), header.encode());
  }

  /** An error of the store, with what to do about it. */
  OsierException failure(RocksDBException e) {
    return StoreErrors.of(dir, e);
  }

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
    StoreHeader with = header.withPartition(dir, keyspace, partition, partitions);
    if (!with.equals(header)) {
      try {
        writeHeader(with);
      } catch (RocksDBException e) {
        throw failure(e);
      }
      header = with;
    }
    return new RocksVersions(this, new RecordKeys(header.numberOf(keyspace, partition)));
  }

  /** Every replica that a record may name. */
  public Collection<ReplicaId> replicas() {
    return replicas.all();
  }

  RecordKeys.Dictionary dictionary() {
    return replicas;
  }

  // ---------------------------------------------------------------- writing

  /** Writes groups, altogether or not at all, as durably as configured. Only for one thread. */
  public void write(List<EncodedGroup> groups) {
    try {
      batch.write(groups, settings.group());
    } catch (RocksDBException e) {
      throw failure(e);
    }
  }

  /**
   * Drops versions that the newest snapshots of their objects contain; a background task.
   *
   * @return how many versions were dropped
   */
  public int prune() {
    try {
      return pruner.prune();
    } catch (RocksDBException e) {
      throw failure(e);
    } catch (MalformedException e) {
      throw damaged(e);
    }
  }

  /** Makes what was written durable, where writes do not do so by themselves. */
  public void flush() {
    try {
      if (durability == Durability.ASYNC) {
        db.syncWal();
      }
    } catch (RocksDBException e) {
      throw failure(e);
    }
  }

  RocksDB db() {
    return db;
  }

  /** Bytes of the tree's files. */
  public long fileBytes() {
    try {
      return db.getLongProperty("rocksdb.total-sst-files-size");
    } catch (RocksDBException e) {
      throw failure(e);
    }
  }

  /**
   * Makes a consistent copy while everything goes on; hard links where the file system has them.
   *
   * @param to must not exist
   */
  public void backup(Path to) {
    try (Checkpoint checkpoint = Checkpoint.create(db)) {
      Files.createDirectories(to.getParent());
      if (durability == Durability.NONE) {
        flushTables();
      }
      checkpoint.createCheckpoint(to.toString());
    } catch (IOException e) {
      throw new OsierException(
          ErrorCode.STORE_FULL, "cannot make " + to + ": " + e.getMessage(), e);
    } catch (RocksDBException e) {
      throw failure(e);
    }
  }

  private void flushTables() throws RocksDBException {
    try (FlushOptions wait = new FlushOptions().setWaitForFlush(true)) {
      db.flush(wait);
    }
  }

  /** Closes the store properly: its incarnation can go on. No group may be written any more. */
  @Override
  public void close() {
    try {
      flushTables();
      writeHeader(header.closed());
    } catch (RocksDBException e) {
      throw failure(e);
    } finally {
      closeUnclean();
    }
  }

  /** Closes the store as a crash would. */
  public void closeUnclean() {
    db.close();
    settings.close();
  }
}
