package io.osier.datacenter.store.rocks;

import io.osier.datacenter.store.LeaseTerm;
import java.util.concurrent.locks.StampedLock;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Snapshot;

/**
 * A snapshot of the database, lent for a while: as long as it lasts, RocksDB deletes nothing that
 * was overwritten since. A reader of an object takes a new lease when this one is old ({@link
 * #isOld}), long before it ends. Reading by an ended lease gives the present entries. That is right
 * for the present version of an object, whose later changes are in memory, and can be wrong only
 * for an older version, in an answer that takes longer than a minute. A reader that needs a lease
 * for longer holds it. Thread-safe.
 */
final class SnapshotLease {
  private final LeaseTerm term;
  private final StampedLock reading = new StampedLock();
  private final ReadOptions options = new ReadOptions();
  private @Nullable Snapshot snapshot;
  private volatile boolean ended;

  SnapshotLease(Snapshot snapshot, long nowNanos) {
    this.snapshot = snapshot;
    this.term = new LeaseTerm(LeaseTerm.Times.DEFAULT, nowNanos);
    options.setSnapshot(snapshot);
  }

  @FunctionalInterface
  interface Reading<T> {
    /**
     * Reads the database.
     *
     * @param options must be neither changed nor kept
     */
    T by(ReadOptions options) throws RocksDBException;
  }

  /** Reads the database as it was at the time of the lease. */
  <T> T read(Reading<T> reader) throws RocksDBException {
    long stamp = reading.readLock();
    try {
      if (!ended) {
        return reader.by(options);
      }
    } finally {
      reading.unlockRead(stamp);
    }
    try (ReadOptions present = new ReadOptions()) {
      return reader.by(present);
    }
  }

  /** Returns whether further readers may use this lease, if the objects they look for are in it. */
  boolean isRecent(long nowNanos) {
    return term.isRecent(nowNanos);
  }

  /** Returns whether readers of the present state should take a new lease. */
  boolean isOld(long nowNanos) {
    return term.isOld(nowNanos);
  }

  /**
   * Puts the end of the lease off.
   *
   * @param millis how long it lasts at least from now on
   * @param isPresent whether the holder reads the present state, so that the lease is not old for
   *     that time
   * @return false if the lease has ended already
   */
  boolean hold(long nowNanos, int millis, boolean isPresent) {
    long stamp = reading.readLock();
    try {
      if (!ended) { // otherwise the caller must take another lease
        term.hold(nowNanos, millis, isPresent);
      }
      return !ended;
    } finally {
      reading.unlockRead(stamp);
    }
  }

  /** Ends the lease if its time is over. Returns whether it has ended. */
  boolean endIfOver(RocksDB db, long nowNanos) {
    if (!term.isOver(nowNanos)) {
      return false;
    }
    long stamp = reading.writeLock();
    try {
      if (term.isOver(nowNanos)) { // it may have been held meanwhile
        giveBack(db);
      }
      return ended;
    } finally {
      reading.unlockWrite(stamp);
    }
  }

  /** Returns whether the snapshot was given back. */
  boolean hasEnded() {
    return ended;
  }

  /** Gives the snapshot back. */
  void end(RocksDB db) {
    long stamp = reading.writeLock();
    try {
      giveBack(db);
    } finally {
      reading.unlockWrite(stamp);
    }
  }

  private void giveBack(RocksDB db) {
    Snapshot given = snapshot;
    if (given != null) {
      ended = true;
      snapshot = null;
      options.close();
      db.releaseSnapshot(given);
      given.close();
    }
  }
}
