package io.osier.datacenter.store.objects;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.osier.core.ErrorCode;
import io.osier.core.Partitioning;
import io.osier.core.Value;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.VersionStore;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.testing.Refused;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/** Entries of large objects that are damaged on the disk. */
final class DamagedEntriesTest extends LargeObjectsFixture {
  @Test
  void damagedEntry_namesTheStoreAndHarmsNobodyElse() throws RocksDBException {
    Value damaged = Value.of("damaged element");
    try (RocksDatabase database = RocksDatabase.open(dir, Durability.NONE, "c", "eu", 1)) {
      Opened opened = new Opened(database);
      opened.update(SET, new Operation.Add(elements(200, 10)));
      opened.update(SET, new Operation.Add(List.of(damaged)));
      opened.update(OTHER, new Operation.Add(elements(200, 10)));
      damage(database, damaged);
      PartitionStore store = new Opened(database).store;
      CrdtState set = requireNonNull(store.get(SET));
      assertThat(set.read(new Query.Contains(elements(1, 10).getFirst())))
          .isEqualTo(new Reading.Flag(true));
      for (Query query : List.of(new Query.Contains(damaged), new Query.Whole())) {
        assertThatThrownBy(() -> set.read(query))
            .hasMessageContaining(dir.toString())
            .is(Refused.with(ErrorCode.STORE_DAMAGED));
      }
      assertThat(requireNonNull(store.get(OTHER)).read(new Query.Size()))
          .isEqualTo(requireNonNull(opened.store.get(OTHER)).read(new Query.Size()));
    }
  }

  /** The records of a partition that are of objects, or their entries. */
  private static Map<byte[], byte[]> records(RocksDatabase database) {
    Map<byte[], byte[]> records = new TreeMap<>(Arrays::compareUnsigned);
    try (RocksIterator all = database.db().newIterator()) {
      for (all.seekToFirst(); all.isValid(); all.next()) {
        if (all.key()[2] == 'o' || all.key()[2] == 'e') {
          records.put(all.key(), all.value());
        }
      }
    }
    return records;
  }

  private static void readAll(RocksDatabase database) {
    for (ObjectId object : List.of(SET, OTHER)) {
      for (VersionStore.Loaded loaded :
          database.partition("k", 0, Partitioning.byKey(1)).load(object.key())) {
        var unused = loaded.state().read(new Query.Whole());
      }
    }
  }

  /** Null, or that the store is damaged: any other error stops the partition. */
  private void check(@Nullable Throwable failure) {
    if (failure != null) {
      assertThat(failure)
          .hasMessageContaining(dir.toString())
          .is(Refused.with(ErrorCode.STORE_DAMAGED));
    }
  }

  @Test
  void recordThatIsCutOffOrHasWrongBits_isNamedDamaged() throws RocksDBException {
    try (RocksDatabase database = RocksDatabase.open(dir, Durability.NONE, "c", "eu", 1)) {
      Opened opened = new Opened(database);
      opened.update(SET, new Operation.Add(elements(20, 80)));
      opened.update(OTHER, new Operation.Add(elements(2, 3)));
      CrdtState set = requireNonNull(opened.store.get(SET));
      assertThat(Decomposition.isDecomposed(set)).isTrue();
      Operation expire =
          new Operation.ExpireParts(
              List.of(new Part.Element(elements(1, 80).getFirst())),
              new Operation.Expire(1L << 40, false));
      opened.update(SET, expire);
      int entries = 0;
      for (Map.Entry<byte[], byte[]> record : records(database).entrySet()) {
        if (record.getKey()[2] == 'e' && ++entries > 3) {
          continue; // they are alike
        }
        byte[] value = record.getValue();
        for (int i = 0; i < value.length; i++) {
          database.db().put(record.getKey(), Arrays.copyOf(value, i));
          Throwable cut = catchThrowable(() -> readAll(database));
          assertThat(cut).as("%d of %d bytes", i, value.length).isNotNull();
          check(cut);
          for (int bit = 0; bit < 8; bit++) {
            byte[] flipped = value.clone();
            flipped[i] ^= (byte) (1 << bit);
            database.db().put(record.getKey(), flipped);
            check(catchThrowable(() -> readAll(database)));
          }
        }
        database.db().put(record.getKey(), value);
      }
      readAll(database);
      assertThat(entries).isGreaterThan(3);
    }
  }

  /** It cannot be whole again; a commit must not fail with it, which has what others did, too. */
  @Test
  void damagedEntry_objectThatShrinks_staysDecomposed() throws RocksDBException {
    Value damaged = Value.of("damaged element");
    try (RocksDatabase database = RocksDatabase.open(dir, Durability.NONE, "c", "eu", 1)) {
      Opened opened = new Opened(database);
      opened.update(SET, new Operation.Add(elements(200, 10)));
      opened.update(SET, new Operation.Add(List.of(damaged)));
      damage(database, damaged);
      Opened again = new Opened(database);
      again.update(SET, new Operation.Remove(elements(200, 10)));
      CrdtState set = requireNonNull(again.store.get(SET));
      assertThat(set.sizeBytes()).isLessThan(250);
      assertThat(Decomposition.isDecomposed(set)).isTrue();
      assertThat(set.read(new Query.Contains(elements(1, 10).getFirst())))
          .isEqualTo(new Reading.Flag(false));
    }
  }
}
