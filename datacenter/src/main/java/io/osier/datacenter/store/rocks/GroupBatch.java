package io.osier.datacenter.store.rocks;

import io.osier.crdt.state.Decomposition;
import io.osier.datacenter.store.records.EncodedGroup;
import io.osier.datacenter.store.records.PartitionObject;
import io.osier.datacenter.store.records.RecordKeys;
import io.osier.datacenter.store.records.ReplicaNumbers;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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

  void write(List<EncodedGroup> groups, WriteOptions options) throws RocksDBException {
    try (WriteBatch batch = new WriteBatch()) {
      int numbers = replicas.putNew(batch::put);
      boolean drops = groups.stream().anyMatch(EncodedGroup::drops);
      Map<PartitionObject, List<byte[]>> versions = drops ? new HashMap<>() : Map.of();
      List<Runnable> notes = new ArrayList<>();
      for (EncodedGroup group : groups) {
        for (EncodedGroup.Step step : group.steps()) {
          if (step instanceof EncodedGroup.Prunable p) {
            notes.add(() -> pruner.note(group.keys(), p.object()));
            continue;
          }
          if (drops && step instanceof EncodedGroup.PutVersion p) {
            PartitionObject of = new PartitionObject(group.keys(), p.object());
            versions.computeIfAbsent(of, v -> new ArrayList<>(1)).add(p.key());
          }
          add(batch, group.keys(), step);
          if (step instanceof EncodedGroup.DropVersions d) {
            // Versions that are only in this batch: the snapshot of an evicted object.
            List<byte[]> earlier = versions.remove(new PartitionObject(group.keys(), d.object()));
            for (byte[] key : earlier == null ? List.<byte[]>of() : earlier) {
              batch.delete(key);
            }
          }
        }
      }
      db.write(options, batch);
      replicas.written(numbers);
      // After the write: an earlier look at the object would find nothing to delete.
      notes.forEach(Runnable::run);
    }
  }

  private void add(WriteBatch batch, RecordKeys keys, EncodedGroup.Step step)
      throws RocksDBException {
    switch (step) {
      case EncodedGroup.PutVersion p -> batch.put(p.key(), p.value());
      case EncodedGroup.Put p -> batch.put(p.key(), p.value());
      case EncodedGroup.Delete d -> batch.delete(d.key());
      case EncodedGroup.DeleteRange d -> batch.deleteRange(d.from(), d.to());
      case EncodedGroup.PutEntries p -> putEntries(batch, keys, p);
      case EncodedGroup.DropVersions d -> drop(batch, keys, d);
      case EncodedGroup.Prunable p -> {}
    }
  }

  private static void putEntries(WriteBatch batch, RecordKeys keys, EncodedGroup.PutEntries put)
      throws RocksDBException {
    byte[] begin = keys.entriesBegin(put.object());
    RocksDBException[] failed = new RocksDBException[1];
    Decomposition.all(
        put.state(),
        put.replicas(),
        (key, cell) -> {
          try {
            if (cell != null) {
              batch.put(RecordKeys.entry(begin, key), cell);
            }
          } catch (RocksDBException e) {
            failed[0] = e;
          }
        });
    if (failed[0] != null) {
      throw failed[0];
    }
  }

  /**
   * Deletes earlier versions one by one: an object has few versions, and many range deletions make
   * reading slow.
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
