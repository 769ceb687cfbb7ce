package io.osier.datacenter.store.rocks;

import io.osier.datacenter.store.LeaseTerm;
import java.util.concurrent.locks.StampedLock;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Snapshot;

/**
 * A RocksDB snapshot that readers of large objects share for at most a minute, unless one of them
 * holds it ({@link #hold}): as long as it lasts, RocksDB keeps all that is overwritten.
 *
 * <p>By its age ({@link LeaseTerm}) a lease is first recent: further readers may join it. When it
 * is old, readers of present states take a new lease, long before this one ends. When its term is
 * over, {@link #endIfOver} gives the snapshot back. Who still reads by it then gets the present
 * entries. That is right for the present version of an object, whose later changes are in memory,
 * and can be wrong only for an older version, in an answer that takes longer than a minute and does
 * not hold the lease. Thread-safe.
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

  /** Reads the snapshot; once the lease has ended, the database as it is now. */
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
      if (term.isOver(nowNanos)) { // a reader may have held it meanwhile
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
