package io.osier.datacenter.store.objects;

import io.osier.core.Key;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.tree.EntrySource;
import io.osier.datacenter.store.DecompositionLimits;
import io.osier.datacenter.store.WritesAtOnce;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.datacenter.store.rocks.RocksVersions;
import io.osier.datacenter.testing.Partitions;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/** Large objects of a store on a folder of its own. */
abstract class LargeObjectsFixture {
  static final ReplicaId SELF = new ReplicaId("eu", 1);

  static final ObjectId SET = new ObjectId(Key.of("set"), CrdtType.AW_SET);

  static final ObjectId OTHER = new ObjectId(Key.of("other"), CrdtType.AW_SET);

  @TempDir Path dir;

  long number;

  static List<Value> elements(int count, int bytes) {
    return IntStream.range(0, count).mapToObj(i -> Value.of(i + "x".repeat(bytes))).toList();
  }

  CrdtState delta(CrdtState state, Operation operation) {
    long before = state.context().through(SELF);
    CrdtState delta = state.prepare(operation, SELF, ++number, before, number, 0);
    number = delta.context().last(SELF);
    return delta;
  }

  static LargeObjects objects(int inMemoryMax) {
    return new LargeObjects(
        new DecompositionLimits(1_000, inMemoryMax, 500), object -> EntrySource.EMPTY);
  }

  /** A partition over a database. */
  final class Opened {
    final RocksVersions versions;
    final PartitionStore store;

    Opened(RocksDatabase database) {
      versions = database.partition("k", 0, Partitioning.byKey(1));
      store =
          Partitions.store(
              versions,
              WritesAtOnce.into(database, versions),
              SELF,
              new DecompositionLimits(1_000, 5));
      var unused = store.recover(1, true, List.of(SELF));
    }

    void update(ObjectId object, Operation operation) {
      CrdtState stored = store.get(object);
      CrdtState before = stored == null ? CrdtState.bottom(object.type()) : stored;
      CrdtState delta = delta(before, operation); // and its number
      Partitions.commit(store, object, SELF, number, delta);
    }
  }

  /** Overwrites the entries of an element. */
  static void damage(RocksDatabase database, Value element) throws RocksDBException {
    try (RocksIterator all = database.db().newIterator()) {
      String wanted = element.toString().substring(1, 8);
      for (all.seekToFirst(); all.isValid(); all.next()) {
        String key = new String(all.key(), StandardCharsets.ISO_8859_1);
        if (key.charAt(2) == 'e' && key.contains(wanted)) {
          database.db().put(all.key(), new byte[] {(byte) 0xFF, 1, 1});
        }
      }
    }
  }
}
