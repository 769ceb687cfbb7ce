package io.osier.datacenter.store.rocks;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.codec.MalformedException;
import io.osier.datacenter.store.DamagedRanges;
import io.osier.datacenter.store.files.StoreErrors;
import io.osier.datacenter.store.records.RecordKeys;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/**
 * The database as readers and writers use it: it is not closed while somebody does, and its errors
 * say what they mean for a datacenter; those that are damage are noted, with the partitions that
 * have it. Thread-safe.
 */
final class OpenDatabase {
  private final RocksDB db;
  private final Path dir;
  private final StoreCatalog catalog;
  private final DamagedRanges damage;
  private final Runnable onDamage;

  /** Shared by those who use the database, and held alone to close it. */
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

  private volatile boolean closed;

  /**
   * @param onDamage is called each time that somebody has met damage
   */
  OpenDatabase(
      RocksDB db, Path dir, StoreCatalog catalog, DamagedRanges damage, Runnable onDamage) {
    this.db = db;
    this.dir = dir;
    this.catalog = catalog;
    this.damage = damage;
    this.onDamage = onDamage;
  }

  /** What is read of an open database. */
  @FunctionalInterface
  interface Use<T> {
    T of(RocksDB db) throws RocksDBException;
  }

  /** What is done with an open database. */
  @FunctionalInterface
  interface Change {
    void in(RocksDB db) throws RocksDBException;
  }

  /** As {@link #use}, where nothing comes of it. */
  void change(Change change) {
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
    lock.readLock().lock();
    try {
      if (closed) {
        throw new OsierException(ErrorCode.SHUTTING_DOWN, "the store in " + dir + " is closed");
      }
      return use.of(db);
    } catch (RocksDBException e) {
      throw met(partition, failure(e));
    } catch (MalformedException e) {
      throw met(partition, damaged(e));
    } finally {
      lock.readLock().unlock();
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
      catalog.checkThere(partition); // what it met may be no damage
      throw e;
    }
    catalog.checkThere(partition); // after it was read: before that tells nothing
    return found;
  }

  /** Throws UNKNOWN_KEYSPACE if a partition was dropped. */
  void checkThere(RecordKeys partition) {
    catalog.checkThere(partition);
  }

  OsierException failure(RocksDBException e) {
    return StoreErrors.of(dir, e);
  }

  /** What it means that a record cannot be decoded. */
  OsierException damaged(Exception e) {
    return StoreErrors.damaged(dir, e);
  }

  /** Who prunes has met an error: from damage it goes on without what it read. */
  void unreadable(RecordKeys partition, RocksDBException e) throws RocksDBException {
    if (failure(e).code() != ErrorCode.STORE_DAMAGED) {
      throw e;
    }
    met(catalog.nameOf(partition), String.valueOf(e.getMessage()));
  }

  /**
   * An error, which is reported if it is damage; what is met of a dropped partition may be none.
   */
  private OsierException met(Optional<RecordKeys> partition, OsierException error) {
    Throwable cause = error.getCause();
    if (error.code() == ErrorCode.STORE_DAMAGED
        && cause != null
        && partition.filter(catalog::isDropped).isEmpty()) {
      String message = String.valueOf(cause.getMessage());
      met(partition.map(catalog::nameOf).orElseGet(() -> catalog.partitionsOf(message)), message);
    }
    return error;
  }

  private void met(String where, String message) {
    damage.met(where, message);
    onDamage.run();
  }

  /** Whether nobody may use it any more. */
  boolean isClosed() {
    return closed;
  }

  /**
   * Waits for those who use the database, and lets nobody use it any more.
   *
   * @param close closes it; not called if it is closed already
   */
  void close(Runnable close) {
    lock.writeLock().lock();
    try {
      if (!closed) {
        closed = true;
        close.run();
      }
    } finally {
      lock.writeLock().unlock();
    }
  }
}
