package io.osier.datacenter.store.rocks;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyedHash;
import io.osier.core.Partitioning;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.GroupWriter;
import io.osier.datacenter.store.StoreScript;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.StoreStatistics;
import io.osier.datacenter.store.VersionStore;
import io.osier.datacenter.store.objects.PartitionStore;
import io.osier.propagation.wire.Shipment;
import io.osier.testing.ScaledTries;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rocksdb.FlushOptions;
import org.rocksdb.RocksDBException;

/** A key is read by point lookups, and nothing of it is missed. */
final class InPlaceLoadTest {
  private static final int TABLES = 3;
  private static final int KEYS = 3_000;
  private static final CrdtType[] TYPES = {
    CrdtType.AW_SET,
    CrdtType.PN_COUNTER,
    CrdtType.LWW_REGISTER,
    CrdtType.STRING,
    CrdtType.MAX_REGISTER
  };

  @TempDir private Path dir;

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);
  private final List<List<Change>> late = new ArrayList<>();
  private long number;

  private RocksDatabase open() {
    return RocksDatabase.open(dir, Durability.SYNC, "test", "eu", 5);
  }

  private PartitionStore store(RocksDatabase database, RocksVersions versions) {
    GroupWriter writer =
        new GroupWriter() {
          @Override
          public void write(Group group) {
            if (group.changes().stream().anyMatch(c -> c instanceof Change.DropObject)) {
              writeLate(database, versions); // a drop comes after what was handed over before it
            }
            database.write(List.of(versions.encode(group.changes())));
            group.written().run();
          }

          @Override
          public Runnable someTime(List<Change> changes) {
            return () -> late.add(changes);
          }
        };
    PartitionStore store =
        new PartitionStore(
            versions, writer, database.self(), 5_000, 1_000, KeyedHash.of(() -> 7), Runnable::run);
    store.recover(database.life(), database.isResumed(), database.replicas());
    commit(store);
    return store;
  }

  private static void commit(PartitionStore store) {
    store.commit(Optional.empty(), () -> {});
  }

  private CrdtState update(PartitionStore store, ObjectId object, Operation operation) {
    CrdtState known = store.get(object);
    CrdtState before = known == null ? CrdtState.bottom(object.type()) : known;
    CrdtState delta = prepared(before, operation);
    CrdtState after = before.join(delta);
    store.put(object, after);
    store.append(
        new Shipment(object, StoreScript.SELF, 0, VersionVector.EMPTY, number, 1, 0, delta), after);
    return after;
  }

  private CrdtState prepared(CrdtState before, Operation operation) {
    CrdtState delta =
        before.prepare(
            operation,
            StoreScript.SELF,
            number + 1,
            before.context().through(StoreScript.SELF),
            1_000_000 + number,
            0);
    number = delta.context().last(StoreScript.SELF);
    return delta;
  }

  private Operation operation(CrdtType type) {
    if (random.nextInt(8) == 0) {
      return new Operation.Clear();
    }
    return switch (type) {
      case PN_COUNTER, STRING -> new Operation.Increment(1);
      case LWW_REGISTER, MAX_REGISTER ->
          new Operation.Assign(Value.of("v".repeat(random.nextInt(1_500))));
      default -> {
        int many = random.nextInt(4) == 0 ? 100 : 1;
        List<Value> elements = new ArrayList<>();
        for (int i = 0; i < many; i++) {
          elements.add(Value.of("element " + random.nextInt(1_000)));
        }
        yield new Operation.Add(elements);
      }
    };
  }

  private static void check(RocksVersions versions, Map<ObjectId, CrdtState> expected, int keys) {
    for (int k = 0; k < keys; k++) {
      Key key = key(k);
      assertThat(versions.load(key).stream().map(VersionStore.Loaded::state))
          .isEqualTo(
              expected.entrySet().stream()
                  .filter(e -> e.getKey().key().equals(key))
                  .map(Map.Entry::getValue)
                  .toList());
    }
  }

  private static Key key(int k) {
    return Key.of("key" + k);
  }

  /**
   * Objects of several types share keys, become large and small, are dropped and made again,
   * evicted, written late; the store is opened again.
   *
   * @param isFormer whether the store was begun by a former version, which wrote no state in place
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void load_whateverWasWritten_findsAll(boolean isFormer) {
    System.out.println("seed " + seed);
    int keys = 6;
    Map<ObjectId, CrdtState> expected = new TreeMap<>();
    if (isFormer) {
      writeVersions(expected, keys);
    }
    int lives = ScaledTries.scaled(15);
    for (int life = 0; life < lives; life++) {
      RocksDatabase database = open();
      try {
        RocksVersions versions = database.partition("k", 0, Partitioning.byKey(1));
        PartitionStore store = store(database, versions);
        assertThat(versions.types().isPresent()).as("in life %d", life).isNotEqualTo(isFormer);
        check(versions, expected, keys);
        for (int i = 0; i < 300; i++) {
          step(store, expected, keys);
          if (random.nextInt(3) == 0) {
            commit(store);
            if (random.nextBoolean()) {
              writeLate(database, versions);
            }
            if (random.nextInt(10) == 0) {
              var unused = database.prune();
            }
            check(versions, expected, keys);
          }
        }
        commit(store);
        check(versions, expected, keys);
        late.clear(); // what is to be written some time may be lost
      } catch (AssertionError e) {
        throw new AssertionError("seed " + seed, e);
      } finally {
        database.closeUnclean();
      }
    }
  }

  /** Writes versions alone: operations, and snapshots of some of them. */
  private void writeVersions(Map<ObjectId, CrdtState> expected, int keys) {
    RocksDatabase database = open();
    try {
      RocksVersions versions = database.partition("k", 0, Partitioning.byKey(1));
      for (int i = 0; i < 100; i++) {
        CrdtType type = TYPES[random.nextInt(TYPES.length)];
        ObjectId object = new ObjectId(key(random.nextInt(keys)), type);
        CrdtState before = expected.getOrDefault(object, CrdtState.bottom(type));
        CrdtState delta = prepared(before, operation(type));
        CrdtState after = before.join(delta);
        expected.put(object, after);
        Change change =
            random.nextInt(5) == 0
                ? new Change.PutSnapshot(object, after.context().toVersionVector(), after)
                : new Change.PutOperation(object, delta.context().toVersionVector(), delta);
        database.write(List.of(versions.encode(List.of(change))));
      }
    } finally {
      database.closeUnclean();
    }
  }

  private void step(PartitionStore store, Map<ObjectId, CrdtState> expected, int keys) {
    CrdtType type = TYPES[random.nextInt(10) == 0 ? 1 + random.nextInt(TYPES.length - 1) : 0];
    ObjectId object = new ObjectId(key(random.nextInt(keys)), type);
    if (random.nextInt(12) == 0 && store.drop(object)) {
      expected.remove(object);
    } else {
      expected.put(object, update(store, object, operation(type)));
    }
  }

  private void writeLate(RocksDatabase database, RocksVersions versions) {
    late.forEach(changes -> database.write(List.of(versions.encode(changes))));
    late.clear();
  }

  /** What stood alone in its place when another object came to its key does not say so any more. */
  @Test
  void load_operationOfALargeObject_afterAnotherOneOfItsKeyCameAndWent_isFound() {
    RocksDatabase database = open();
    try {
      RocksVersions versions = database.partition("k", 0, Partitioning.byKey(1));
      PartitionStore store = store(database, versions);
      store.setCacheBytes(1 << 20); // what is read again would tell
      ObjectId set = new ObjectId(key(0), CrdtType.AW_SET);
      List<Value> elements = new ArrayList<>();
      for (int i = 0; i < 1_000; i++) {
        elements.add(Value.of("element " + i));
      }
      update(store, set, new Operation.Add(elements));
      commit(store);
      ObjectId counter = new ObjectId(key(0), CrdtType.PN_COUNTER);
      update(store, counter, new Operation.Increment(1));
      commit(store);
      assertThat(store.drop(counter)).isTrue();
      commit(store);
      CrdtState last = null;
      for (int i = 0; i < 3; i++) {
        last = update(store, set, new Operation.Add(List.of(Value.of("another " + i))));
        commit(store);
        assertThat(versions.load(key(0)).stream().map(VersionStore.Loaded::state))
            .containsExactly(last);
      }
      assertThat(versions.records(set)).as("operations, too").isGreaterThan(1);
    } finally {
      database.closeUnclean();
    }
  }

  private static long blocks(RocksDatabase database) {
    StoreStatistics figures = database.figures();
    return figures.blockCacheHits() + figures.blockCacheMisses();
  }

  @Test
  void load_smallObjects_looksIntoOneBlock_andIntoNoneIfThereIsNoSuchKey() throws RocksDBException {
    RocksDatabase database = open();
    try (FlushOptions flush = new FlushOptions().setWaitForFlush(true)) {
      RocksVersions versions = database.partition("k", 0, Partitioning.byKey(1));
      PartitionStore store = store(database, versions);
      for (int i = 0; i < TABLES * KEYS; i++) {
        // Each table has keys from everywhere.
        update(
            store,
            new ObjectId(key(i * 7 % (TABLES * KEYS)), CrdtType.PN_COUNTER),
            new Operation.Increment(1));
        if (i % KEYS == KEYS - 1) {
          commit(store);
          database.db().flush(flush);
        }
      }
      long before = blocks(database);
      for (int i = 0; i < KEYS; i++) {
        assertThat(versions.load(Key.of("key" + i + "?"))).isEmpty();
      }
      assertThat(blocks(database) - before).isLessThan(KEYS / 2);
      before = blocks(database);
      for (int i = 0; i < KEYS; i++) {
        assertThat(versions.load(key(i))).hasSize(1);
      }
      assertThat(blocks(database) - before).isLessThan(KEYS * 3 / 2);
    } finally {
      database.closeUnclean();
    }
  }
}
