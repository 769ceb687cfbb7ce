package io.osier.datacenter.store.rocks;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.Deadline;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.files.DamagedStore;
import io.osier.datacenter.store.records.RecordKeys;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDB;

@SuppressWarnings("NullAway.Init") // each test opens its store first
abstract class DamagedBlocks {
  static final ReplicaId SELF = new ReplicaId("eu", 1);
  static final ObjectId WHOLE = new ObjectId(Key.of("whole"), CrdtType.EW_FLAG);
  static final int RECORDS = 300;

  @TempDir Path dir;
  RocksDatabase database;
  RocksVersions versions;

  @AfterEach
  void close() {
    database.closeUnclean();
  }

  RocksDatabase open() {
    return RocksDatabase.open(dir, Durability.SYNC, "test", "eu", 1);
  }

  static ObjectId object(int i) {
    return new ObjectId(Key.of("k%05d".formatted(i)), CrdtType.EW_FLAG);
  }

  /**
   * Records of each kind, in a table whose blocks are all damaged, and one object that is whole.
   */
  void makeDamaged(boolean knowsTypes) throws Exception {
    database = open();
    versions = database.partition("shop", 0, Partitioning.byKey(1));
    if (knowsTypes) {
      database.write(
          List.of(versions.encode(List.of(new Change.PutTypes(Set.of(CrdtType.EW_FLAG))))));
    }
    RocksDB db = database.db();
    DamagedStore.flush(db); // what a start needs is in another table
    RecordKeys keys = new RecordKeys(0);
    Random random = new Random(1);
    for (int i = 0; i < RECORDS; i++) {
      ObjectId object = object(i);
      byte[] value = new byte[200];
      random.nextBytes(value);
      db.put(keys.inPlace(object), value);
      db.put(RecordKeys.entry(keys.entriesBegin(object(0)), object.key().toBytes()), value);
      db.put(keys.removed(object), value);
      db.put(keys.deadline(new Deadline(i, object)), value);
      db.put(keys.logged(i), value);
      db.put(keys.transaction(i), value);
    }
    DamagedStore.flush(db);
    database.closeUnclean();
    DamagedStore.damageAllBlocks(dir);
    database = open();
    versions = database.partition("shop", 0, Partitioning.byKey(1));
    database.write(List.of(versions.encode(List.of(new Change.PutInPlace(WHOLE, state(), true)))));
  }

  static CrdtState delta() {
    return CrdtState.bottom(WHOLE.type()).prepare(new Operation.SetFlag(true), SELF, 1, 0, 1, 0);
  }

  static CrdtState state() {
    return CrdtState.bottom(WHOLE.type()).join(delta());
  }

  void assertIsReported() {
    assertThat(database.damage().failedReads()).isPositive();
    assertThat(database.damage().all())
        .isNotEmpty()
        .allSatisfy(
            range -> {
              assertThat(range.where()).isEqualTo("partition shop/0");
              assertThat(range.what()).matches("byte \\d+ of \\d+\\.sst");
              assertThat(range.reads()).isPositive();
            });
  }
}
