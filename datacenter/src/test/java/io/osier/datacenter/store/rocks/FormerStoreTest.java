package io.osier.datacenter.store.rocks;

import static io.osier.testing.Refused.refused;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.PartitionProgress;
import io.osier.datacenter.store.StoreScript;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.VersionStore;
import io.osier.datacenter.store.WritesAtOnce;
import io.osier.datacenter.store.memory.MemoryVersions;
import io.osier.datacenter.store.objects.PartitionStore;
import io.osier.datacenter.store.records.RecordKeys;
import io.osier.datacenter.testing.Partitions;
import io.osier.propagation.host.Forgetting;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.ReplicationProgress;
import io.osier.propagation.wire.Shipment;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rocksdb.FlushOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteOptions;

/**
 * A store that an earlier version wrote is opened, and holds what was written. Those in the
 * resources were written by the code of the commits that they are named after, with {@link #write}:
 * half of them in tables, half in the log, not closed properly.
 */
final class FormerStoreTest {
  private static final int TABLES_THROUGH = 60;

  @TempDir private Path dir;

  private static RocksDatabase open(Path at) {
    return RocksDatabase.open(at, Durability.SYNC, "test", "eu", 5);
  }

  /** Writes the store, with today's code. */
  private static void write(Path at) throws RocksDBException {
    RocksDatabase database = open(at);
    try (FlushOptions flush = new FlushOptions().setWaitForFlush(true)) {
      RocksVersions first = database.partition("k", 0, Partitioning.byKey(2));
      RocksVersions second = database.partition("k", 1, Partitioning.byKey(2));
      List<List<Change>> groups = StoreScript.ended().groups();
      for (int i = 0; i < groups.size(); i++) {
        if (i == TABLES_THROUGH) {
          database.db().flush(flush);
        }
        database.write(
            List.of(first.encode(groups.get(i)), second.encode(groups.get(groups.size() - 1 - i))));
      }
    } finally {
      database.closeUnclean();
    }
  }

  private static void unpack(String commit, Path to) throws IOException {
    Files.createDirectories(to.resolve("db"));
    try (InputStream in = FormerStoreTest.class.getResourceAsStream("/store-" + commit + ".zip");
        ZipInputStream zip = new ZipInputStream(in)) {
      for (ZipEntry e = zip.getNextEntry(); e != null; e = zip.getNextEntry()) {
        Files.copy(zip, to.resolve("db").resolve(e.getName()));
      }
    }
  }

  private static void checkContent(Path at, Function<CrdtState, Object> as) {
    MemoryVersions expected = new MemoryVersions();
    Set<Key> keys = new HashSet<>();
    for (List<Change> group : StoreScript.ended().groups()) {
      expected.write(group);
      group.forEach(c -> keyOf(c).ifPresent(keys::add));
    }
    RocksDatabase database = open(at);
    try {
      assertThat(database.self()).isEqualTo(new ReplicaId("eu", 5));
      assertThat(database.isResumed()).isTrue();
      assertThat(database.replicas()).containsExactlyInAnyOrderElementsOf(expected.replicas());
      RocksVersions found = database.partition("k", 0, Partitioning.byKey(2));
      for (Key key : keys) {
        assertThat(found.load(key).stream().map(VersionStore.Loaded::state))
            .as("%s", key)
            .map(as)
            .isEqualTo(expected.load(key).stream().map(l -> as.apply(l.state())).toList());
      }
      assertThat(found.objects(Optional.empty(), 10_000))
          .isEqualTo(expected.objects(Optional.empty(), 10_000))
          .hasSizeGreaterThan(50);
      assertThat(found.removed(Optional.empty(), 10_000))
          .isEqualTo(expected.removed(Optional.empty(), 10_000))
          .isNotEmpty();
      assertThat(found.logged(0, 10_000)).isEqualTo(expected.logged(0, 10_000)).isNotEmpty();
      assertThat(found.transactions()).isEqualTo(expected.transactions()).isNotEmpty();
      assertThat(found.state()).isEqualTo(expected.state()).isPresent();
    } finally {
      database.closeUnclean();
    }
  }

  private static Optional<Key> keyOf(Change change) {
    return switch (change) {
      case Change.PutOperation p -> Optional.of(p.object().key());
      case Change.PutSnapshot p -> Optional.of(p.object().key());
      case Change.PutInPlace p -> Optional.of(p.object().key());
      case Change.DropObject d -> Optional.of(d.object()).map(ObjectId::key);
      default -> Optional.empty();
    };
  }

  @ParameterizedTest
  @ValueSource(strings = {"78edc64", "8ab7eaa"})
  void storeOfAFormerVersion_isOpened_andHoldsWhatWasWritten(String commit) throws IOException {
    Path store = dir.resolve("former");
    unpack(commit, store);
    checkContent(store, FormerStoreTest::shown);
  }

  /** Its objects stand in their places, which do not say that they are alone. */
  @Test
  void storeOfObjectsInPlace_isOpened_andHoldsWhatWasWritten() throws IOException {
    Path at = dir.resolve("former");
    unpack("b0f8fbd", at);
    checkContent(at, FormerStoreTest::shown);
    checkContent(at, FormerStoreTest::shown); // by the life after it, too
  }

  @Test
  void storeOfThisVersion_isOpened_andHoldsWhatWasWritten() throws RocksDBException {
    Path store = dir.resolve("today");
    write(store);
    checkContent(store, state -> state);
  }

  /** What is written goes into the object's place, and its versions go. */
  @ParameterizedTest
  @CsvSource({"78edc64, true", "8ab7eaa, true", "b0f8fbd, false"})
  void objectOfAFormerVersion_isOneRecord_onceItIsWrittenAgain(String commit, boolean hasVersions)
      throws IOException {
    Path at = dir.resolve("former");
    unpack(commit, at);
    RocksDatabase database = open(at);
    Map<ObjectId, CrdtState> expected = new HashMap<>();
    int versions = 0;
    try {
      RocksVersions found = database.partition("k", 0, Partitioning.byKey(2));
      PartitionStore store =
          Partitions.store(found, WritesAtOnce.into(database, found), database.self());
      RecoveredState recovered = store.recover(database.life(), true, database.replicas());
      long number = recovered.committed();
      for (ObjectId object : found.objects(Optional.empty(), 1_000)) {
        versions += found.records(object);
        CrdtState before = requireNonNull(store.get(object));
        long predecessor = before.context().through(StoreScript.SELF);
        CrdtState delta =
            before.prepare(
                new Operation.Clear(), StoreScript.SELF, ++number, predecessor, 1_000_000, 0);
        CrdtState after = before.join(delta);
        store.put(object, after);
        store.append(
            new Shipment(
                object, StoreScript.SELF, predecessor, VersionVector.EMPTY, number, 1, 0, delta),
            after);
        expected.put(object, after);
        ReplicationProgress progress = new ReplicationProgress(recovered.through(), Map.of(), true);
        store.commit(
            Optional.of(
                new PartitionProgress(number, 1_000_000, progress, 0, true, Forgetting.SOMETHING)),
            () -> {});
      }
      assertThat(versions > expected.size()).isEqualTo(hasVersions);
      database.prune();
      assertThat(expected.keySet()).allMatch(object -> found.records(object) == 1);
    } finally {
      database.closeUnclean();
    }
    RocksDatabase again = open(at);
    try {
      RocksVersions found = again.partition("k", 0, Partitioning.byKey(2));
      expected.forEach(
          (object, state) ->
              assertThat(found.load(object.key())).extracting(l -> l.state()).contains(state));
    } finally {
      again.closeUnclean();
    }
  }

  /** An older version would take what it does not know for damage, or for nothing. */
  @Test
  void store_isOfItsFormat_fromItsFirstStartOn_andOneOfTheFutureIsRefusedByName()
      throws IOException, RocksDBException {
    Path store = dir.resolve("former");
    unpack("8ab7eaa", store);
    RocksDatabase database = open(store);
    byte[] header = database.db().get(RecordKeys.header());
    assertThat(header[0]).isEqualTo((byte) 8);
    header[0] = 10;
    try (WriteOptions write = new WriteOptions()) {
      database.db().put(write, RecordKeys.header(), header);
    }
    database.closeUnclean();
    refused(ErrorCode.CONFIGURATION, () -> open(store))
        .hasMessageContaining("in format 10; this version reads formats 1 to 9");
  }

  /** How today's code writes the rows of a counter that was cleared may differ from then. */
  private static Object shown(CrdtState state) {
    return List.of(state.type(), state.context(), state.read(new Query.Whole()));
  }
}
