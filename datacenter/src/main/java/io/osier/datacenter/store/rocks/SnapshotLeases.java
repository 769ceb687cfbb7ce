package io.osier.datacenter.store.rocks;

import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDB;

/** The snapshots that readers of decomposed objects have, oldest first. Thread-safe. */
public final class SnapshotLeases {
  private final ConcurrentLinkedQueue<SnapshotLease> given = new ConcurrentLinkedQueue<>();
  private volatile @Nullable SnapshotLease last;

  SnapshotLease begin(RocksDB db, long nowNanos) {
    SnapshotLease lease = new SnapshotLease(db.getSnapshot(), nowNanos);
    given.add(lease);
    last = lease;
    return lease;
  }

  /** Returns the latest lease if it is recent; null otherwise. */
  @Nullable SnapshotLease recent(long nowNanos) {
    SnapshotLease lease = last;
    return lease != null && lease.isRecent(nowNanos) ? lease : null;
  }

  /** Ends the leases whose time is over. Only for one thread at a time. */
  void endOver(RocksDB db, long nowNanos) {
    given.removeIf(lease -> lease.endIfOver(db, nowNanos));
  }

  /** Ends all leases, before the database is closed. */
  public void endAll(RocksDB db) {
    for (SnapshotLease lease = given.poll(); lease != null; lease = given.poll()) {
      lease.end(db);
    }
  }

  /** Returns how many leases there are. */
  int size() {
    return given.size();
  }
}
