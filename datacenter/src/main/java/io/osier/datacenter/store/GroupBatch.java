package io.osier.datacenter.store;

import java.util.List;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/** Turns groups into one write of RocksDB. Only for the thread that writes. */
final class GroupBatch {
  private final RocksDB db;
  private final ReplicaNumbers replicas;
  private final Pruner pruner;

  GroupBatch(RocksDB db, ReplicaNumbers replicas, Pruner pruner) {
    this.db = db;
    this.replicas = replicas;
    this.pruner = pruner;
  }

  /** Writes groups, altogether or not at all. */
  void write(List<EncodedGroup> groups, WriteOptions options) throws RocksDBException {
    try (WriteBatch batch = new WriteBatch()) {
      int numbers = replicas.putNew(batch::put);
      for (EncodedGroup group : groups) {
        for (EncodedGroup.Step step : group.steps()) {
          add(batch, group.keys(), step);
        }
      }
      db.write(options, batch);
      replicas.written(numbers);
    }
  }

  private void add(WriteBatch batch, RecordKeys keys, EncodedGroup.Step step)
      throws RocksDBException {
    switch (step) {
      case EncodedGroup.PutVersion p -> batch.put(p.key(), p.value());
      case EncodedGroup.Put p -> batch.put(p.key(), p.value());
      case EncodedGroup.Delete d -> batch.delete(d.key());
      case EncodedGroup.DeleteRange d -> batch.deleteRange(d.from(), d.to());
      case EncodedGroup.DropVersions d -> drop(batch, keys, d);
      case EncodedGroup.Prunable p -> pruner.note(keys, p.object());
    }
  }

  /**
   * Deletes one by one what was written before: an object has few versions, and many deletions of
   * ranges make reading slow.
   */
  private void drop(WriteBatch batch, RecordKeys keys, EncodedGroup.DropVersions dropped)
      throws RocksDBException {
    try (Slice end = new Slice(keys.objectEnd(dropped.object()));
        ReadOptions read = new ReadOptions().setIterateUpperBound(end).setFillCache(false);
        RocksIterator it = db.newIterator(read)) {
      for (it.seek(keys.objectBegin(dropped.object())); it.isValid(); it.next()) {
        batch.delete(it.key());
      }
      it.status();
    }
  }
}
