package io.osier.datacenter.store.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.osier.core.ErrorCode;
import io.osier.core.HolderTerms;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.DamagedRanges;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.StoredState;
import io.osier.datacenter.store.records.RecordKeys;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.datacenter.store.rocks.RocksVersions;
import io.osier.propagation.host.Forgetting;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDBException;

/** What becomes of a damaged store on its disk, also where mending is killed or refused. */
final class StoreSalvageTest {
  private static final int OBJECTS = 300;
  private static final int LATER = 50;

  @TempDir private Path dir;

  private RocksDatabase open() {
    return RocksDatabase.open(dir, Durability.SYNC, "test", "eu", 1);
  }

  private static ObjectId object(int i) {
    return new ObjectId(Key.of("k%05d".formatted(i)), CrdtType.EW_FLAG);
  }

  private static byte[] value() {
    byte[] value = new byte[200];
    new Random(1).nextBytes(value);
    return value;
  }

  /** A store of objects in a table, and of later ones that are in the log alone. */
  @BeforeEach
  void makeStore() throws RocksDBException {
    RocksDatabase database = open();
    putState(database, database.self(), VersionVector.EMPTY);
    DamagedStore.flush(database.db());
    RecordKeys keys = new RecordKeys(0);
    for (int i = 0; i < OBJECTS; i++) {
      database.db().put(keys.inPlace(object(i)), value());
    }
    DamagedStore.flush(database.db());
    for (int i = 0; i < LATER; i++) {
      database.db().put(keys.inPlace(object(OBJECTS + i)), value());
    }
    database.closeUnclean();
  }

  private static void putState(RocksDatabase database, ReplicaId self, VersionVector through) {
    StoredState state =
        new StoredState(
            self, OBJECTS, 0, OBJECTS, 0, through, Map.of(), true, true, Forgetting.NOTHING);
    RocksVersions versions = database.partition("shop", 0, Partitioning.byKey(1));
    database.write(List.of(versions.encode(List.of(new Change.PutState(state)))));
  }

  private void putState(ReplicaId self, VersionVector through) {
    try (RocksDatabase database = open()) {
      putState(database, self, through);
    }
  }

  private void damage() throws IOException, RocksDBException {
    DamagedStore.damageOneBlock(dir);
    DamagedRanges.make(StoreFiles.damageNote(dir));
  }

  private Optional<String> mend() {
    return StoreFiles.mend(dir, 1_000_000, keyspace -> true);
  }

  private int objects() {
    try (RocksDatabase database = open()) {
      return database
          .partition("shop", 0, Partitioning.byKey(1))
          .objects(Optional.empty(), 10 * OBJECTS)
          .size();
    }
  }

  private List<String> asides() throws IOException {
    try (Stream<Path> files = Files.list(dir)) {
      return files
          .map(f -> f.getFileName().toString())
          .filter(name -> name.startsWith("db.aside-"))
          .toList();
    }
  }

  private OsierException refused() {
    OsierException e = catchThrowableOfType(OsierException.class, this::mend);
    assertThat(e).isNotNull();
    return e;
  }

  @Test
  void damagedObjects_areLeftOut_andOnlyTheLastDamagedStoreIsKept() throws Exception {
    damage();
    assertThat(mend()).isPresent();
    assertThat(objects()).isBetween(OBJECTS, OBJECTS + LATER - 1);
    assertThat(asides()).hasSize(1);
    String first = asides().getFirst();
    Files.createDirectory(dir.resolve("db.aside-of-somebody-else"));
    damage();
    assertThat(mend()).isPresent();
    assertThat(asides()).hasSize(2).doesNotContain(first).contains("db.aside-of-somebody-else");
    assertThat(StoreFiles.damageNote(dir)).doesNotExist();
  }

  /** Half of a store is no store, whoever made room for it. */
  @Test
  void rebuild_afterMendingWasKilled_leavesNothingOfIt() throws Exception {
    damage();
    Files.createDirectory(StoreLayout.mending(dir));
    Files.createFile(StoreLayout.mending(dir).resolve("CURRENT"));
    assertThat(StoreFiles.setAside(dir)).isPresent();
    assertThat(StoreLayout.mending(dir)).doesNotExist();
    assertThat(StoreFiles.damageNote(dir)).doesNotExist();
    assertThat(mend()).isEmpty();
    assertThat(StoreLayout.database(dir)).doesNotExist();
  }

  @Test
  void storeThatWasMended_takesItsPlace_thoughTheProcessWasKilledBefore() throws Exception {
    damage();
    assertThat(mend()).isPresent();
    int whole = objects();
    Files.move(StoreLayout.database(dir), StoreLayout.mended(dir));
    DamagedRanges.make(StoreFiles.damageNote(dir));
    assertThat(mend()).isPresent();
    assertThat(objects()).isEqualTo(whole);
    Files.move(StoreLayout.database(dir), StoreLayout.mended(dir));
    assertThat(objects()).as("without peers nobody mends").isEqualTo(whole);
    assertThat(StoreLayout.mended(dir)).doesNotExist();
  }

  /** Its numbers would be given twice. */
  @Test
  void storeThatWasMended_isDeleted_whereTheDamagedOneGoesOn() throws Exception {
    Files.createDirectory(StoreLayout.mended(dir));
    assertThat(objects()).isEqualTo(OBJECTS + LATER);
    assertThat(StoreLayout.mended(dir)).doesNotExist();
    Files.createDirectory(StoreLayout.mended(dir));
    assertThat(StoreFiles.setAside(dir)).isPresent();
    assertThat(StoreLayout.mended(dir)).doesNotExist();
  }

  /** Otherwise nothing would ever be served where it takes longer than whoever starts it waits. */
  @Test
  void mendingThatWasKilled_isNotTriedByTheNextStart_butByTheOneAfter() throws Exception {
    damage();
    Files.createDirectory(StoreLayout.mending(dir));
    OsierException e = refused();
    assertThat(e.code()).isEqualTo(ErrorCode.STORE_DAMAGED);
    assertThat(e).hasMessageContaining("did not end at the last start");
    assertThat(StoreFiles.damageNote(dir)).exists();
    assertThat(mend()).isPresent();
  }

  /** The log of a former incarnation is dropped, and with it what a peer may lack. */
  @Test
  void updatesOfAFormerIncarnation_areNotGivenUp() throws Exception {
    ReplicaId former = new ReplicaId("eu", 1);
    putState(new ReplicaId("eu", 2), VersionVector.of(former, OBJECTS));
    damage();
    assertThat(refused())
        .hasMessageContaining("eu/1, a former incarnation")
        .hasMessageContaining("osier rebuild");
    assertThat(asides()).isEmpty();
    putState(former, VersionVector.of(new ReplicaId("us", 1), 7));
    assertThat(mend()).isPresent();
  }

  /** Who holds keyspaces in several terms has one life: each term that ended left all to others. */
  @Test
  void termsOfOneLife_areNoFormerIncarnations() throws Exception {
    ReplicaId life = new ReplicaId("eu", 2);
    ReplicaId later = HolderTerms.in(life, Map.of("eu", 1));
    for (ReplicaId self : List.of(later, life)) {
      putState(self, VersionVector.of(self.equals(life) ? later : life, OBJECTS));
      damage();
      assertThat(mend()).isPresent();
    }
    ReplicaId former = new ReplicaId("eu", 1);
    putState(later, VersionVector.of(HolderTerms.in(former, Map.of("eu", 1)), OBJECTS));
    damage();
    assertThat(refused()).hasMessageContaining("a former incarnation");
  }

  /** What was mended claims nothing; but its records name who made them. */
  @Test
  void updatesOfAFormerIncarnation_areSeenByTheRecordsThatNameIt() throws Exception {
    try (RocksDatabase database = open()) {
      RocksVersions versions = database.partition("shop", 0, Partitioning.byKey(1));
      CrdtState none = CrdtState.bottom(CrdtType.EW_FLAG);
      CrdtState state =
          none.join(none.prepare(new Operation.SetFlag(true), new ReplicaId("eu", 1), 1, 0, 1, 0));
      Change.PutInPlace put = new Change.PutInPlace(object(10 * OBJECTS), state, true);
      database.write(List.of(versions.encode(List.of(put))));
    }
    putState(new ReplicaId("eu", 2), VersionVector.EMPTY);
    damage();
    assertThat(refused()).hasMessageContaining("eu/1, a former incarnation");
  }

  /** It would look as if there had never been anything, and be served before a peer is heard. */
  @Test
  void partitionOfWhichNothingIsWhole_isNotMended() throws Exception {
    try (RocksDatabase database = open()) {
      RecordKeys keys = new RecordKeys(0);
      database.db().deleteRange(keys.objectsBegin(), keys.objectsEnd());
      byte[] large = new byte[20_000]; // a block of its own
      new Random(1).nextBytes(large);
      for (int i = 0; i < 3; i++) {
        database.db().put(keys.inPlace(object(i)), large);
      }
      database.db().compactRange();
    }
    damage();
    assertThat(refused()).hasMessageContaining("everything of partition shop/0 is damaged");
  }

  /** What it lacks was acknowledged, perhaps. */
  @Test
  void storeWhoseLogIsDamaged_isNotMended() throws Exception {
    damage();
    Path log;
    try (Stream<Path> files = Files.list(StoreLayout.database(dir))) {
      log =
          files
              .filter(f -> f.toString().endsWith(".log"))
              .max((a, b) -> Long.compare(a.toFile().length(), b.toFile().length()))
              .orElseThrow();
    }
    try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "rw")) {
      file.seek(file.length() / 2);
      int b = file.read();
      file.seek(file.length() / 2);
      file.write(b ^ 4);
    }
    assertThat(refused().code()).isEqualTo(ErrorCode.STORE_DAMAGED);
    Files.delete(log);
    assertThat(refused()).hasMessageContaining("log");
    assertThat(asides()).isEmpty();
    assertThat(StoreLayout.mending(dir)).doesNotExist();
  }
}
