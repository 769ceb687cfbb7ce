package io.osier.datacenter.store.objects;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyedHash;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.crdt.tree.EntrySource;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.StoredKey;
import io.osier.datacenter.store.memory.MemoryVersions;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.testing.Faked;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rocksdb.RocksDBException;

/** When sets are decomposed, what stays in memory, and what a damaged entry does. */
final class LargeObjectsTest extends LargeObjectsFixture {
  private static final ObjectId MAP = new ObjectId(Key.of("map"), CrdtType.OR_MAP);

  /** A source without entries, which is old. */
  private static final EntrySource OLD =
      Faked.of(
          EntrySource.class,
          (old, method, arguments) ->
              method.getName().equals("isOld")
                  ? true
                  : method.invoke(EntrySource.EMPTY, arguments));

  private CrdtState updated(CrdtState state, Operation operation) {
    return state.join(delta(state, operation));
  }

  /** With deadlines of all elements the head is as large as the object, and written each time. */
  @Test
  void manyDeadlines_isNotDecomposed() {
    LargeObjects objects = objects(1_000);
    CrdtState set =
        updated(CrdtState.bottom(CrdtType.AW_SET), new Operation.Add(elements(200, 10)));
    CrdtState decomposed = objects.formed(SET, set, List.of());
    assertThat(Decomposition.isDecomposed(decomposed)).isTrue();
    List<Part> parts = elements(200, 10).stream().<Part>map(e -> new Part.Element(e)).toList();
    Operation expire = new Operation.ExpireParts(parts, new Operation.Expire(99, false));
    assertThat(Decomposition.isDecomposed(objects.formed(SET, updated(set, expire), List.of())))
        .isFalse();
    assertThat(
            Decomposition.isDecomposed(objects.formed(SET, updated(decomposed, expire), List.of())))
        .isFalse();
  }

  private static Operation field(String name, CrdtType type, Operation operation) {
    return new Operation.UpdateFields(new FieldId(name, type), operation);
  }

  /** A field is one record, and would be written for each of its insertions. */
  @Test
  void mapThatIsMostlyOneField_staysWhole() {
    LargeObjects objects = objects(1_000);
    Operation many = new Operation.Add(elements(10_000, 10));
    CrdtState map = updated(CrdtState.bottom(CrdtType.OR_MAP), field("f", CrdtType.AW_SET, many));
    CrdtState decomposed = objects.formed(MAP, map, List.of());
    assertThat(Decomposition.isDecomposed(decomposed)).isTrue();
    Operation one = new Operation.Add(List.of(Value.of("one")));
    CrdtState delta = delta(decomposed, field("f", CrdtType.AW_SET, one));
    CrdtState whole = objects.formed(MAP, decomposed.join(delta), List.of(delta));
    assertThat(Decomposition.isDecomposed(whole)).isFalse();
    CrdtState next = updated(whole, field("g", CrdtType.AW_SET, one));
    assertThat(Decomposition.isDecomposed(objects.formed(MAP, next, List.of()))).isFalse();
    CrdtState twice = updated(next, field("g", CrdtType.AW_SET, many));
    twice = updated(twice, field("h", CrdtType.AW_SET, one));
    assertThat(Decomposition.isDecomposed(objects.formed(MAP, twice, List.of()))).isTrue();
  }

  /** What is written for it is what the update brought; so is a field that is little of a map. */
  @Test
  void mapWhoseLargeFieldIsReplaced_orIsOneOfMany_isDecomposed() {
    Operation text = new Operation.Assign(Value.of("x".repeat(200_000)));
    assertThat(isDecomposedAfter(text, CrdtType.LWW_REGISTER, text)).isTrue();
    Operation many = new Operation.Add(elements(10_000, 10));
    Operation one = new Operation.Add(List.of(Value.of("one")));
    assertThat(isDecomposedAfter(many, CrdtType.AW_SET, many)).isTrue();
    assertThat(isDecomposedAfter(many, CrdtType.AW_SET, many, one)).isFalse();
    Operation[] others = new Operation[40];
    Arrays.fill(others, text);
    others[0] = one;
    assertThat(isDecomposedAfter(many, CrdtType.AW_SET, others)).isTrue();
  }

  /**
   * Whether a map is decomposed after the last of a field's updates.
   *
   * @param others with more than two, all but the first are of other fields and come before that
   */
  private boolean isDecomposedAfter(Operation first, CrdtType type, Operation... others) {
    LargeObjects objects = objects(1_000);
    CrdtState map = updated(CrdtState.bottom(CrdtType.OR_MAP), field("f", type, first));
    for (int i = 2; i < others.length; i++) {
      map = updated(map, field("f" + i, CrdtType.LWW_REGISTER, others[i]));
    }
    map = objects.formed(MAP, map, List.of());
    Operation last = others.length == 2 ? others[1] : others[0];
    CrdtState delta = delta(map, field("f", type, last));
    return Decomposition.isDecomposed(objects.formed(MAP, map.join(delta), List.of(delta)));
  }

  /** A few large entries are as much as many small ones. */
  @Test
  void largeEntries_goFromMemory() {
    LargeObjects objects = objects(1_000);
    CrdtState set =
        updated(CrdtState.bottom(CrdtType.AW_SET), new Operation.Add(elements(3, 1_000_000)));
    CrdtState first = objects.written(SET, objects.formed(SET, set, List.of()), 1, 0);
    assertThat(Decomposition.inMemory(first)).isEqualTo(3);
    assertThat(Decomposition.inMemory(objects.written(SET, first, 2, 1))).isEqualTo(3);
    CrdtState more = updated(first, new Operation.Add(elements(8, 1_000_001)));
    CrdtState noted = objects.written(SET, more, 3, 2);
    assertThat(Decomposition.inMemory(objects.written(SET, noted, 4, 3))).isZero();
  }

  /** A snapshot of an object that has no operations would read and write all of it. */
  @Test
  void evicted_decomposed_isNoVersion() {
    CrdtState counter = updated(CrdtState.bottom(CrdtType.PN_COUNTER), new Operation.Increment(1));
    CrdtState set = updated(CrdtState.bottom(CrdtType.AW_SET), new Operation.Add(elements(9, 9)));
    KeyObjects.Written many = new KeyObjects.Written(1_000, 9_000);
    KeyObjects both =
        new KeyObjects(List.of(counter, Decomposition.of(set)), List.of(many, many), true, 1);
    assertThat(UpdateRecords.ofEvicted(SET.key(), both))
        .filteredOn(Change.PutSnapshot.class::isInstance)
        .extracting(c -> ((Change.PutSnapshot) c).object().type())
        .containsExactly(CrdtType.PN_COUNTER);
  }

  /** What is read by a source that is to end is not given to scans, which may take long. */
  @Test
  void peek_oldSource_readsAnew() {
    MemoryVersions versions = new MemoryVersions();
    CrdtState set = updated(CrdtState.bottom(CrdtType.AW_SET), new Operation.Add(elements(9, 9)));
    CrdtState decomposed = Decomposition.of(set);
    versions.write(List.of(new Change.PutDecomposed(SET, decomposed, List.of(), null, true)));
    ObjectCache cache =
        new ObjectCache(versions, KeyedHash.of(() -> 7), 1 << 20, (key, objects) -> () -> {});
    CrdtState old = Decomposition.rebased(decomposed, decomposed, OLD);
    cache.put(SET.key(), KeyObjects.NOTHING.with(old, 1));
    cache.becameDurable(List.of(SET.key()), 1);
    assertThat(cache.durablyStored(SET.key())).isEmpty();
    assertThat(cache.peek(SET, false)).isEqualTo(set);
    assertThat(cache.peek(SET.key())).containsExactly(set);
    assertThat(cache.get(SET.key()).states()).containsExactly(set);
    assertThat(cache.durablyStored(SET.key()).map(StoredKey::states)).contains(List.of(set));
  }

  /** Before, a clearing that had not seen what came just before looked through all of it. */
  @Test
  void get_oldSource_remembersWhatCameLately() {
    MemoryVersions versions = new MemoryVersions();
    CrdtState set = updated(CrdtState.bottom(CrdtType.AW_SET), new Operation.Add(elements(99, 9)));
    CrdtState decomposed = Decomposition.of(set);
    versions.write(List.of(new Change.PutDecomposed(SET, decomposed, List.of(), null, true)));
    ObjectCache cache =
        new ObjectCache(versions, KeyedHash.of(() -> 7), 1 << 20, (key, objects) -> () -> {});
    long bytes = cache.get(SET.key()).states().getFirst().heapBytes();
    CrdtState old = Decomposition.rebased(decomposed, decomposed, OLD);
    cache.put(SET.key(), KeyObjects.NOTHING.with(old, 1));
    cache.becameDurable(List.of(SET.key()), 1);
    CrdtState read = cache.get(SET.key()).states().getFirst();
    assertThat(read).isEqualTo(set);
    assertThat(Decomposition.isOld(read)).isFalse();
    assertThat(read.heapBytes()).isBetween(bytes + 99 * 9, bytes + 99 * 20);
  }

  /** A reader that is slow must not find the head of one version and entries of another. */
  @Test
  void olderVersion_hasWhatWasThere() {
    try (RocksDatabase database = RocksDatabase.open(dir, Durability.NONE, "c", "eu", 1)) {
      new Opened(database).update(SET, new Operation.Add(elements(200, 10)));
      Opened opened = new Opened(database);
      CrdtState old = requireNonNull(opened.store.get(SET));
      opened.update(SET, new Operation.Add(elements(300, 11)));
      opened.update(SET, new Operation.Remove(elements(100, 10)));
      assertThat(Decomposition.inMemory(old)).isZero();
      assertThat(old.read(new Query.Whole()))
          .isEqualTo(
              updated(CrdtState.bottom(CrdtType.AW_SET), new Operation.Add(elements(200, 10)))
                  .read(new Query.Whole()));
    }
  }

  /** What was changed before does not stay in memory because nothing is changed any more. */
  @Test
  void idle_goesFromMemory() {
    try (RocksDatabase database = RocksDatabase.open(dir, Durability.NONE, "c", "eu", 1)) {
      Opened opened = new Opened(database);
      opened.update(SET, new Operation.Add(elements(200, 10)));
      assertThat(Decomposition.inMemory(requireNonNull(opened.store.get(SET)))).isEqualTo(200);
      opened.update(OTHER, new Operation.Add(elements(1, 10)));
      assertThat(Decomposition.inMemory(requireNonNull(opened.store.get(SET)))).isZero();
    }
  }

  /** Only who looks through all of it meets the damage. */
  @Test
  void clearing_thatHasNotSeenWhatCameLately_readsNothingElse() throws RocksDBException {
    Value damaged = Value.of("damaged element");
    ReplicaId us = new ReplicaId("us", 1);
    try (RocksDatabase database = RocksDatabase.open(dir, Durability.NONE, "c", "eu", 1)) {
      Opened former = new Opened(database);
      former.update(SET, new Operation.Add(elements(200, 10)));
      former.update(SET, new Operation.Add(List.of(damaged)));
      Opened opened = new Opened(database);
      CrdtState before = requireNonNull(opened.store.get(SET));
      CrdtState cleared = before.join(before.prepare(new Operation.Clear(), us, 1, 0, 1, 0));
      damage(database, damaged);
      CrdtState expected = CrdtState.bottom(CrdtType.AW_SET);
      for (int i = 0; i < 5; i++) {
        Operation add = new Operation.Add(elements(10, 20 + i));
        expected = updated(expected, add);
        opened.update(SET, add);
        // Other groups are written in between: what is not changed meanwhile goes from memory.
        opened.update(OTHER, new Operation.Add(elements(1, 10)));
        opened.update(OTHER, new Operation.Add(elements(1, 11)));
      }
      CrdtState present = requireNonNull(opened.store.get(SET));
      assertThat(Decomposition.inMemory(present)).isLessThan(20);
      assertThat(present.join(cleared).read(new Query.Whole()))
          .isEqualTo(expected.read(new Query.Whole()));
    }
  }

  /** What it was when it was decomposed before must not be taken for what is written of it. */
  @Test
  void shrinksAndGrowsAgain_allIsWritten() {
    try (RocksDatabase database = RocksDatabase.open(dir, Durability.NONE, "c", "eu", 1)) {
      Opened opened = new Opened(database);
      opened.update(SET, new Operation.Add(elements(200, 10)));
      opened.update(SET, new Operation.Remove(elements(200, 10)));
      opened.update(SET, new Operation.Add(elements(3, 12)));
      assertThat(Decomposition.isDecomposed(requireNonNull(opened.store.get(SET)))).isFalse();
      opened.update(SET, new Operation.Add(elements(200, 11)));
      CrdtState grown = requireNonNull(opened.store.get(SET));
      assertThat(Decomposition.isDecomposed(grown)).isTrue();
      assertThat(new Opened(database).store.get(SET)).isEqualTo(grown);
    }
  }
}
