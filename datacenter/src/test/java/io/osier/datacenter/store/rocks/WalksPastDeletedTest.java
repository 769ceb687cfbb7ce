package io.osier.datacenter.store.rocks;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.Deadline;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.records.RecordKeys;
import io.osier.protocol.TransactionId;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rocksdb.FlushOptions;
import org.rocksdb.PerfContext;
import org.rocksdb.RocksDBException;

/** What was deleted costs who walks past it nothing, once one has met it. Counts, not times. */
@SuppressWarnings("NullAway.Init") // each test opens its store first
final class WalksPastDeletedTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final int DELETED = 4_000;
  private static final ObjectId HOT = object("hot");

  @TempDir private Path dir;
  private RocksDatabase database;
  private RocksVersions versions;

  /** What is written and deleted again. */
  private enum Kind {
    OBJECTS,
    REMOVED,
    DEADLINES,
    ENTRIES,
    ENTRIES_BACKWARDS,
    VERSIONS
  }

  private void put(Kind kind, int i) {
    switch (kind) {
      case OBJECTS -> write(List.of(put(deleted(i))));
      case REMOVED -> write(List.of(new Change.PutRemoved(deleted(i))));
      case DEADLINES -> write(List.of(new Change.PutDeadline(new Deadline(i, deleted(i)))));
      case ENTRIES, ENTRIES_BACKWARDS -> entry(i, true);
      case VERSIONS -> version(i, true);
    }
  }

  private void delete(Kind kind, int i) {
    switch (kind) {
      case OBJECTS -> write(List.of(new Change.DropObject(deleted(i))));
      case REMOVED -> write(List.of(new Change.DropRemoved(deleted(i))));
      case DEADLINES -> write(List.of(new Change.DropDeadline(new Deadline(i, deleted(i)))));
      case ENTRIES, ENTRIES_BACKWARDS -> entry(i, false);
      case VERSIONS -> version(i, false);
    }
  }

  /** Walks past what was deleted; returns how much that has found. */
  private int walk(Kind kind) {
    return switch (kind) {
      case OBJECTS -> versions.objects(Optional.empty(), 30).size();
      case REMOVED -> versions.removed(Optional.empty(), 30).size();
      case DEADLINES -> versions.deadlines(Optional.empty(), 30).size();
      case ENTRIES -> versions.entries(HOT).page(null, true, false, 30).size();
      case ENTRIES_BACKWARDS -> versions.entries(HOT).page(null, true, true, 30).size();
      case VERSIONS -> versions.load(HOT.key()).size();
    };
  }

  /** Where the tombstones are when somebody walks. */
  private enum Where {
    IN_MEMORY,
    IN_A_TABLE,
    AFTER_A_RESTART
  }

  private static ObjectId object(String key) {
    return new ObjectId(Key.of(key), CrdtType.PN_COUNTER);
  }

  private static ObjectId deleted(int i) {
    return object("m:" + i);
  }

  private static CrdtState counter(int number) {
    CrdtState none = CrdtState.bottom(CrdtType.PN_COUNTER);
    return none.join(none.prepare(new Operation.Increment(1), SELF, number, 0, number, 0));
  }

  private static Change put(ObjectId object) {
    return new Change.PutInPlace(object, counter(1), true);
  }

  private void write(List<Change> changes) {
    database.write(List.of(versions.encode(changes)));
  }

  private void raw(byte[] key, boolean isThere) {
    try {
      if (isThere) {
        database.db().put(key, new byte[] {1});
      } else {
        database.db().delete(key);
      }
    } catch (RocksDBException e) {
      throw new AssertionError(e);
    }
  }

  private static RecordKeys keys() {
    return new RecordKeys(0); // of the first partition that a store has
  }

  private void entry(int i, boolean isThere) {
    byte[] name = ("m:" + i).getBytes(StandardCharsets.UTF_8);
    raw(RecordKeys.entry(keys().entriesBegin(HOT), name), isThere);
  }

  private void version(int i, boolean isThere) {
    VersionVector at = VersionVector.EMPTY.with(SELF, i + 1);
    if (isThere) {
      write(List.of(new Change.PutOperation(HOT, at, counter(i + 1))));
    } else {
      raw(keys().version(HOT, at, false, database.dictionary()), false);
    }
  }

  private void open() {
    database = RocksDatabase.open(dir, Durability.ASYNC, "test", "eu", 1);
    versions = database.partition("shop", 0, Partitioning.byKey(1));
  }

  @AfterEach
  void close() {
    database.close();
  }

  /** So that there is something on both sides of what is deleted. */
  private void writeOthers() {
    List<Change> changes = new ArrayList<>();
    for (String side : List.of("a", "z")) {
      for (int i = 0; i < 20; i++) {
        ObjectId object = object(side + i);
        changes.add(put(object));
        changes.add(new Change.PutRemoved(object));
        changes.add(
            new Change.PutDeadline(new Deadline(side.equals("a") ? -i : DELETED + i, object)));
        byte[] name = object.key().toBytes();
        raw(RecordKeys.entry(keys().entriesBegin(HOT), name), true);
      }
    }
    changes.add(new Change.PutInPlace(HOT, counter(DELETED + 1), false));
    write(changes);
  }

  private void make(Kind kind, Where where) throws RocksDBException {
    open();
    writeOthers();
    IntStream.range(0, DELETED).forEach(i -> put(kind, i));
    try (FlushOptions wait = new FlushOptions().setWaitForFlush(true)) {
      database.db().flush(wait); // otherwise they would be gone with their tombstones
      IntStream.range(0, DELETED).forEach(i -> delete(kind, i));
      if (where == Where.IN_A_TABLE) {
        database.db().flush(wait);
      }
    }
    if (where == Where.AFTER_A_RESTART) {
      database.closeUnclean();
      open();
    }
  }

  /** How many tombstones this thread has gone through. */
  private long tombstones() {
    try (PerfContext counts = database.db().getPerfContext()) {
      return counts.getInternalDeleteSkippedCount();
    }
  }

  private long skipped(Runnable walk) {
    long before = tombstones();
    walk.run();
    return tombstones() - before;
  }

  @ParameterizedTest
  @CsvSource({
    "OBJECTS, IN_MEMORY",
    "OBJECTS, IN_A_TABLE",
    "OBJECTS, AFTER_A_RESTART",
    "REMOVED, IN_MEMORY",
    "REMOVED, IN_A_TABLE",
    "DEADLINES, IN_MEMORY",
    "DEADLINES, AFTER_A_RESTART",
    "ENTRIES, IN_MEMORY",
    "ENTRIES, IN_A_TABLE",
    "ENTRIES_BACKWARDS, IN_MEMORY",
    "VERSIONS, IN_MEMORY",
    "VERSIONS, IN_A_TABLE"
  })
  void walkPastManyTombstones_hasThemCompacted_andTheNextMeetsFew(Kind kind, Where where)
      throws RocksDBException {
    make(kind, where);
    int found = walk(kind);
    assertThat(found).isPositive();
    assertThat(database.figures().tombstonesMet()).isGreaterThan(TombstoneRanges.SKIPPED_MIN);
    assertThat(database.hasGap()).isTrue();
    assertThat(database.compactGap()).isTrue();
    assertThat(skipped(() -> assertThat(walk(kind)).isEqualTo(found)))
        .isLessThan(TombstoneRanges.SKIPPED_MIN);
    assertThat(database.figures().gapCompactions()).isOne();
    assertThat(database.hasGap()).isFalse();
  }

  /** Where the end of what is wanted lies in front of them, nobody meets them. */
  @Test
  void walkThatEndsBeforeThem_meetsNone() throws RocksDBException {
    make(Kind.OBJECTS, Where.IN_MEMORY);
    List<ObjectId> found = new ArrayList<>();
    Optional<Key> to = Optional.of(Key.of("b"));
    assertThat(skipped(() -> found.addAll(versions.objects(Optional.empty(), to, 30)))).isZero();
    assertThat(found).hasSize(20).allMatch(o -> o.key().startsWith(Key.of("a")));
    assertThat(versions.objects(Optional.of(object("c")), to, 30)).as("a turned range").isEmpty();
  }

  /** The last object that is pruned lies in front of them. */
  @Test
  void pruning_doesNotWalkThroughOtherObjectsTombstones() throws RocksDBException {
    make(Kind.OBJECTS, Where.IN_MEMORY);
    VersionVector at = VersionVector.EMPTY.with(SELF, 1);
    write(List.of(new Change.PutOperation(HOT, at, counter(1)), new Change.Prune(HOT)));
    int[] dropped = new int[1];
    assertThat(skipped(() -> dropped[0] = database.prune()))
        .isLessThan(2 * TombstoneRanges.SKIPPED_MIN);
    assertThat(dropped[0]).isOne();
  }

  /** The log and the notes of transactions are dropped as ranges, which nobody walks through. */
  @Test
  void ranges_areNotWalkedThrough() throws RocksDBException {
    open();
    for (int i = 1; i <= DELETED; i++) {
      write(
          List.of(
              new Change.PutLogged(i, HOT), new Change.PutTransaction(i, new TransactionId(1, i))));
    }
    for (int i = 0; i < DELETED - 1_000; i += 1_000) {
      write(
          List.of(new Change.DropLogged(i, i + 1_000), new Change.DropTransactions(i, i + 1_000)));
    }
    assertThat(skipped(() -> assertThat(versions.logged(0, 10)).hasSize(10)))
        .isLessThan(TombstoneRanges.SKIPPED_MIN);
    assertThat(skipped(() -> assertThat(versions.transactions()).hasSize(1_000)))
        .isLessThan(TombstoneRanges.SKIPPED_MIN);
  }

  /** A compaction that waits for a slow disk does not hold up the end of the store. */
  @Test
  void afterTheStoreIsClosed_nothingIsCompacted() throws RocksDBException {
    make(Kind.OBJECTS, Where.IN_MEMORY);
    int found = walk(Kind.OBJECTS);
    assertThat(found).isPositive();
    database.gaps().cancel();
    assertThat(database.compactGap()).as("is given up").isTrue();
    assertThat(skipped(() -> walk(Kind.OBJECTS))).isGreaterThan(TombstoneRanges.SKIPPED_MIN);
    assertThat(versions.types()).isEqualTo(Optional.<Set<CrdtType>>empty());
  }
}
