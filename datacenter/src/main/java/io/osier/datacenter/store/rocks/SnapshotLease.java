package io.osier.datacenter.store.rocks;

import io.osier.datacenter.store.LeaseTerm;
import java.util.concurrent.locks.StampedLock;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Snapshot;

/**
 * A snapshot of the database for a while: for as long as there is one, nothing that was overwritten
 * since is deleted. Whoever reads an object by one takes another one when it is old ({@link
 * #isOld}), which is long before it ends. Who reads by one that has ended finds what is there now:
 * that is right for the present version of an object, which has in memory whatever was changed
 * since, and can only be an older one's of an answer that has taken a minute. Who needs one for
 * longer holds it. Thread-safe.
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
     * Reads.
     *
     * @param options not to be changed, nor kept
     */
    T by(ReadOptions options) throws RocksDBException;
  }

  /** Reads the database as it was. */
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

  /** Whether others may use it, too, if what they look for is in it. */
  boolean isRecent(long nowNanos) {
    return term.isRecent(nowNanos);
  }

  /** Whether who reads what is present by it should take another one. */
  boolean isOld(long nowNanos) {
    return term.isOld(nowNanos);
  }

  /**
   * Puts its end off.
   *
   * @param millis how long it lasts from now on, at least
   * @param isPresent whether it is not old for that time
   * @return whether it has not ended
   */
  boolean hold(long nowNanos, int millis, boolean isPresent) {
    long stamp = reading.readLock();
    try {
      if (!ended) { // otherwise another one is to be taken
        term.hold(nowNanos, millis, isPresent);
      }
      return !ended;
    } finally {
      reading.unlockRead(stamp);
    }
  }

  /** Ends if it has come to its end. Returns whether it has ended. */
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

  /** Whether the snapshot was given back. */
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
