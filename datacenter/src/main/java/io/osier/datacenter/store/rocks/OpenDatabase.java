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
 * The database as readers and writers use it: it is not closed during a use, and its errors become
 * a datacenter's errors; damage is noted with its partitions. Thread-safe.
 */
final class OpenDatabase {
  private final RocksDB db;
  private final Path dir;
  private final StoreCatalog catalog;
  private final DamagedRanges damage;
  private final Runnable onDamage;

  /** Held shared by users of the database, and exclusively to close it. */
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

  private volatile boolean closed;

  /**
   * @param onDamage is called each time that damage is met
   */
  OpenDatabase(
      RocksDB db, Path dir, StoreCatalog catalog, DamagedRanges damage, Runnable onDamage) {
    this.db = db;
    this.dir = dir;
    this.catalog = catalog;
    this.damage = damage;
    this.onDamage = onDamage;
  }

  /** A read of the open database. */
  @FunctionalInterface
  interface Use<T> {
    T of(RocksDB db) throws RocksDBException;
  }

  /** A change of the open database. */
  @FunctionalInterface
  interface Change {
    void in(RocksDB db) throws RocksDBException;
  }

  /** As {@link #use}, without a result. */
  void change(Change change) {
    boolean unused =
        use(
            open -> {
              change.in(open);
              return true;
            });
  }

  /**
   * Uses the database, which is not closed meanwhile, since RocksDB would go on with freed memory.
   *
   * @throws OsierException the error into which RocksDB's is translated; SHUTTING_DOWN if the
   *     database is closed
   */
  <T> T use(Use<T> use) {
    return use(Optional.empty(), use);
  }

  /** As {@link #use(Use)}, for a partition, which is named if it is damaged. */
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
   * As {@link #use}, for a partition's data that clients are shown.
   *
   * @throws OsierException UNKNOWN_KEYSPACE if the partition was dropped: its files are deleted
   *     during reads, so any record may be missing from the result
   */
  <T> T use(RecordKeys partition, Use<T> use) {
    T found;
    try {
      found = useOf(partition, use);
    } catch (OsierException e) {
      catalog.checkThere(partition); // the error may be due to the drop, and no damage
      throw e;
    }
    catalog.checkThere(partition); // after the read: an earlier check would prove nothing
    return found;
  }

  /** Throws UNKNOWN_KEYSPACE if a partition was dropped. */
  void checkThere(RecordKeys partition) {
    catalog.checkThere(partition);
  }

  OsierException failure(RocksDBException e) {
    return StoreErrors.of(dir, e);
  }

  /** Returns the error for a record that cannot be decoded. */
  OsierException damaged(Exception e) {
    return StoreErrors.damaged(dir, e);
  }

  /**
   * Handles an error of pruning: damage is noted and the object left as it is; other errors are
   * thrown.
   */
  void unreadable(RecordKeys partition, RocksDBException e) throws RocksDBException {
    if (failure(e).code() != ErrorCode.STORE_DAMAGED) {
      throw e;
    }
    met(catalog.nameOf(partition), String.valueOf(e.getMessage()));
  }

  /**
   * Reports an error if it is damage, and returns it; errors in a dropped partition may be no
   * damage.
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

  /** Returns whether the database is closed. */
  boolean isClosed() {
    return closed;
  }

  /**
   * Waits until nobody uses the database, and lets nobody use it any more.
   *
   * @param close closes the database; not called if it is closed already
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
