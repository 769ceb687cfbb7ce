package io.osier.datacenter.store.objects;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyedHash;
import io.osier.core.ReplicaId;
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
import io.osier.datacenter.store.memory.MemoryVersions;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.datacenter.store.rocks.RocksVersions;
import io.osier.datacenter.testing.Partitions;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.StoredObjects;
import io.osier.propagation.wire.Shipment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the cache does at its own pace must not disturb what the partition does. */
final class PartitionStoreTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);

  @TempDir private Path dir;

  private final MemoryVersions versions = new MemoryVersions();
  private final List<Runnable> writes = new ArrayList<>();

  /** What evictions write, where a test says when. */
  private final List<Runnable> late = new ArrayList<>();

  private final List<List<Change>> groups = new ArrayList<>();
  private final PartitionStore store = store();
  private boolean delaysEvicted;
  private long number;
  private RecoveredState recovered = RecoveredState.NOTHING;

  private PartitionStore store() {
    return new PartitionStore(
        versions, writer(), SELF, 2_000, 1_000, KeyedHash.of(() -> 7), Runnable::run);
  }

  private GroupWriter writer() {
    return new GroupWriter() {
      @Override
      public void write(Group group) {
        groups.add(group.changes());
        writes.add(
            () -> {
              versions.write(group.changes());
              group.written().run();
            });
      }

      @Override
      public Runnable someTime(List<Change> changes) {
        List<Runnable> to = delaysEvicted ? late : writes;
        return () -> to.add(() -> versions.write(changes));
      }
    };
  }

  private void update(ObjectId object, Operation operation) {
    update(store, object, operation);
  }

  private void update(PartitionStore store, ObjectId object, Operation operation) {
    CrdtState before = store.get(object);
    CrdtState state = before == null ? CrdtState.bottom(object.type()) : before;
    long predecessor = state.context().through(SELF);
    CrdtState delta = state.prepare(operation, SELF, ++number, predecessor, number, 0);
    number = delta.context().last(SELF);
    CrdtState after = state.join(delta);
    store.put(object, after);
    store.append(
        new Shipment(object, SELF, predecessor, VersionVector.EMPTY, number, 1, 0, delta), after);
  }

  private void commit() {
    commit(store);
  }

  private void commit(PartitionStore store) {
    commit(store, number);
  }

  /**
   * Ends a group.
   *
   * @param shipped every other datacenter has the updates up to this number
   */
  private void commit(PartitionStore store, long shipped) {
    store.commit(Partitions.progress(number, shipped), () -> {});
  }

  private void writeAll() {
    while (!writes.isEmpty()) {
      writes.removeFirst().run();
    }
  }

  /** Of large objects few are read at once, whatever number is asked for. */
  @Test
  void pagesOfWhatIsDurable_areBoundedInBytes_andMissNothing() {
    List<ObjectId> all = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      ObjectId object = new ObjectId(Key.of("large" + i), CrdtType.LWW_REGISTER);
      update(object, new Operation.Assign(Value.of("x".repeat(1_000))));
      all.add(object);
    }
    commit();
    writeAll();
    update(all.getFirst(), new Operation.Assign(Value.of("not durable")));
    List<ObjectId> found = new ArrayList<>();
    StoredObjects.Page page = new StoredObjects.Page(List.of(), false);
    while (!page.end()) {
      Optional<ObjectId> after = found.isEmpty() ? Optional.empty() : Optional.of(found.getLast());
      page = store.pageDurable(after, Optional.empty(), 100, 2_500);
      assertThat(page.entries()).hasSizeLessThanOrEqualTo(3);
      for (StoredObjects.Entry entry : page.entries()) {
        assertThat(entry.state().sizeBytes()).as("durable").isGreaterThan(1_000);
        found.add(entry.object());
      }
    }
    assertThat(found).isEqualTo(all);
    assertThat(store.pageDurable(Optional.empty(), Optional.empty(), 4, 1 << 20).entries())
        .hasSize(4);
  }

  /** Some of them are not durable, and some were dropped. */
  @Test
  void pagesOfWhatIsThere_missNothing_howeverSmallTheyAre() {
    List<ObjectId> all = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      ObjectId object = new ObjectId(Key.of(String.format("%02d", i)), CrdtType.AW_SET);
      update(object, new Operation.Add(List.of(Value.of("x".repeat(100)))));
      all.add(object);
    }
    commit();
    writeAll();
    for (ObjectId gone : List.copyOf(all.subList(5, 40))) {
      update(gone, new Operation.Clear());
      commit();
      writeAll();
      assertThat(store.drop(gone)).isTrue();
      all.remove(gone);
    }
    commit();
    ObjectId last = new ObjectId(Key.of("99"), CrdtType.AW_SET);
    update(last, new Operation.Add(List.of(Value.of("not durable"))));
    all.add(last);
    for (int limit : List.of(1, 2, 7, 8, 9, 20, 59, 100)) {
      for (long bytes : List.of(1L, 300L, 1_000L, 1L << 20)) {
        List<ObjectId> found = new ArrayList<>();
        StoredObjects.Page page = new StoredObjects.Page(List.of(), false);
        while (!page.end()) {
          page = store.pageNow(found.stream().reduce((a, b) -> b), limit, bytes);
          assertThat(page.end() || !page.entries().isEmpty()).isTrue();
          page.entries().forEach(e -> found.add(e.object()));
        }
        assertThat(found).as("%d and %d bytes at a time", limit, bytes).isEqualTo(all);
      }
    }
  }

  @Test
  void droppedObject_isNotBroughtBack_byAnEvictionMeanwhile() {
    ObjectId gone = new ObjectId(Key.of("gone"), CrdtType.AW_SET);
    addMany(gone);
    update(gone, new Operation.Clear());
    commit();
    writeAll();
    assertThat(store.drop(gone)).isTrue();
    commit();
    // Before the group is written the cache evicts what it knew of the object.
    store.setCacheBytes(2_000);
    for (int i = 0; i < 50; i++) {
      store.prefetch(Key.of("other " + i));
      update(
          new ObjectId(Key.of("other " + i), CrdtType.LWW_REGISTER),
          new Operation.Assign(Value.of("x".repeat(200))));
    }
    commit();
    assertThat(store.get(gone)).isNull();
    writeAll();
    assertThat(versions.load(gone.key())).isEmpty();
    assertThat(store.get(gone)).isNull();
  }

  private static ObjectId counter(int i) {
    return new ObjectId(Key.of("counter " + i), CrdtType.PN_COUNTER);
  }

  private static long records(List<Change> group, ObjectId object) {
    return group.stream()
        .filter(
            c ->
                switch (c) {
                  case Change.PutOperation p -> p.object().equals(object);
                  case Change.PutSnapshot p -> p.object().equals(object);
                  case Change.PutInPlace p -> p.object().equals(object);
                  case Change.Prune p -> p.object().equals(object);
                  default -> false;
                })
        .count();
  }

  @Test
  void hotCounter_isWrittenOnceAGroup_andStaysOneRecord_withNothingToTidyUp() {
    for (int group = 0; group < 30; group++) {
      for (int i = 0; i < 50; i++) {
        update(counter(i % 3), new Operation.Increment(1));
      }
      commit();
      writeAll();
      assertThat(records(groups.getLast(), counter(group % 3))).isEqualTo(1);
      assertThat(versions.records(counter(group % 3))).isEqualTo(1);
    }
    for (int i = 0; i < 3; i++) {
      assertThat(versions.load(counter(i).key()))
          .extracting(l -> l.state())
          .containsExactly(store.get(counter(i)));
    }
  }

  /** A set of a thousand elements is not written whole for each of them. */
  @Test
  void largeObject_isWrittenWholeOnlyNowAndThen_andItsOperationsArePruned() {
    ObjectId set = new ObjectId(Key.of("set"), CrdtType.AW_SET);
    int most = 0;
    store.setCacheBytes(1 << 20);
    for (int i = 0; i < 1_000; i++) {
      update(set, new Operation.Add(Value.of("element " + i)));
      update(set, new Operation.Add(Value.of("another " + i)));
      commit();
      writeAll();
      assertThat(versions.load(set.key()).getFirst().state()).isEqualTo(store.get(set));
      most = Math.max(most, versions.records(set));
    }
    long whole =
        groups.stream()
            .flatMap(List::stream)
            .filter(c -> c instanceof Change.PutInPlace)
            .mapToLong(c -> ((Change.PutInPlace) c).state().sizeBytes())
            .sum();
    assertThat(whole).isLessThan(10 * requireNonNull(store.get(set)).sizeBytes());
    assertThat(most).isGreaterThan(50).isLessThanOrEqualTo(257);
    assertThat(groups).allMatch(g -> records(g, set) <= 2);
  }

  /** What an eviction writes may come late, and must not take the place of what is newer. */
  @Test
  void evictedObject_isNotSetBack_byItsSnapshotThatComesLate() {
    ObjectId set = new ObjectId(Key.of("set"), CrdtType.AW_SET);
    addMany(set);
    delaysEvicted = true;
    store.setCacheBytes(0);
    assertThat(store.isCached(set.key())).isFalse();
    assertThat(late).isNotEmpty();
    store.setCacheBytes(1 << 20);
    update(set, new Operation.Clear());
    commit();
    writeAll();
    CrdtState cleared = store.get(set);
    assertThat(records(groups.getLast(), set)).as("in place, with a note").isEqualTo(2);
    late.forEach(Runnable::run);
    assertThat(versions.load(set.key())).extracting(l -> l.state()).containsExactly(cleared);
    assertThat(versions.records(set)).isEqualTo(1);
  }

  private void addMany(ObjectId set) {
    store.setCacheBytes(1 << 20);
    for (int i = 0; i < 80; i++) {
      update(set, new Operation.Add(Value.of("element " + i)));
      commit();
      writeAll();
    }
    assertThat(versions.records(set)).isGreaterThan(8);
  }

  /** A note to prune may be lost: who reads the object again finds that there is something. */
  @Test
  void versionsThatWereLeft_arePruned_whenTheObjectIsReadAndWrittenAgain() {
    ObjectId set = new ObjectId(Key.of("set"), CrdtType.AW_SET);
    addMany(set);
    CrdtState then = requireNonNull(store.get(set));
    update(set, new Operation.Clear());
    commit();
    writeAll();
    assertThat(versions.records(set)).isEqualTo(1);
    versions.write(List.of(new Change.PutSnapshot(set, then.context().toVersionVector(), then)));
    store.setCacheBytes(0);
    store.setCacheBytes(1 << 20);
    assertThat(store.isCached(set.key())).isFalse();
    update(set, new Operation.Clear());
    commit();
    writeAll();
    assertThat(versions.records(set)).isEqualTo(1);
  }

  private PartitionStore restarted(long life) {
    PartitionStore again = store();
    recovered = again.recover(life, true, List.of(SELF));
    return again;
  }

  private void increments(PartitionStore of, int count, long shipped) {
    for (int i = 0; i < count; i++) {
      update(of, counter(i % 3), new Operation.Increment(1));
    }
    commit(of, Math.min(shipped, number));
    writeAll();
  }

  /** Of a group that everybody has nothing is logged: of one that is alone, of all. */
  @Test
  void log_isWrittenOnlyWhileSomebodyMayLackSomething() {
    increments(store, 10, Long.MAX_VALUE);
    assertThat(versions.logged(0, 100)).isEmpty();
    assertThat(store.loggedAfter()).isEqualTo(10);
    assertThat(store.figures().logEntries()).isZero();
    increments(store, 5, 0); // a peer has come
    assertThat(versions.logged(0, 100))
        .extracting(l -> l.number())
        .containsExactly(11L, 12L, 13L, 14L, 15L);
    assertThat(store.loggedAfter()).isEqualTo(10);
    PartitionStore second = restarted(2);
    assertThat(recovered.committed()).isEqualTo(15);
    assertThat(recovered.loggedAfter()).isEqualTo(10);
    increments(second, 5, 12);
    assertThat(versions.logged(12, 100)).hasSize(8);
    // Nobody lacks anything, or nobody is known yet: what is there stays until it is worth a drop.
    increments(second, 5, Long.MAX_VALUE);
    assertThat(versions.logged(10, 100)).hasSize(15);
    increments(second, 1_000, Long.MAX_VALUE);
    assertThat(versions.logged(0, 100)).isEmpty();
    increments(second, 5, Long.MAX_VALUE);
    assertThat(versions.logged(0, 100)).isEmpty();
    assertThat(second.loggedAfter()).isEqualTo(1_030);
    PartitionStore third = restarted(3);
    assertThat(recovered.loggedAfter()).isEqualTo(1_030);
    increments(third, 5, 0);
    assertThat(third.loggedAfter()).isEqualTo(1_030);
    assertThat(versions.logged(0, 100)).extracting(l -> l.number()).startsWith(1_031L).hasSize(5);
  }

  /** A crash leaves a prefix of the groups, whatever of the tidying was done. */
  @Test
  void anyPrefixOfTheGroups_isWhatWasThere() {
    StoreScript script = StoreScript.ended();
    Random random = new Random(21);
    Map<Key, List<CrdtState>> expected = new HashMap<>();
    RocksDatabase database = RocksDatabase.open(dir, Durability.NONE, "test", "eu", 5);
    try {
      RocksVersions rocks = database.partition("k", 0, 1);
      for (int i = 0; i < script.groups().size(); i++) {
        List<Change> group = script.groups().get(i);
        versions.write(group);
        database.write(List.of(rocks.encode(group)));
        expected.putAll(script.contents().get(i));
        if (random.nextInt(4) == 0) {
          database.prune();
        }
        for (Map.Entry<Key, List<CrdtState>> e : expected.entrySet()) {
          assertThat(versions.load(e.getKey())).extracting(l -> l.state()).isEqualTo(e.getValue());
          assertThat(rocks.load(e.getKey())).extracting(l -> l.state()).isEqualTo(e.getValue());
        }
      }
    } finally {
      database.close();
    }
  }

  @Test
  void droppedObject_isNotBroughtBack_byAnEvictionBefore() {
    ObjectId gone = new ObjectId(Key.of("gone"), CrdtType.AW_SET);
    addMany(gone);
    store.setCacheBytes(0);
    assertThat(store.isCached(gone.key())).isFalse();
    assertThat(writes).as("what the eviction writes").hasSize(1);
    update(gone, new Operation.Clear());
    commit();
    writes.removeLast().run(); // a group may overtake that
    assertThat(store.drop(gone)).isTrue();
    commit();
    writeAll();
    assertThat(versions.load(gone.key())).isEmpty();
    assertThat(store.get(gone)).isNull();
  }

  /** After a start the partition asks for these: to find them must not cost a look at all. */
  @Test
  void removedObjects_areNoted_andFoundWithoutReadingAnyObject() {
    Random random = new Random(7);
    List<ObjectId> objects = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      objects.add(
          new ObjectId(
              Key.of(i % 3 == 0 ? "k" + (char) 0 + i : "k" + i),
              i % 2 == 0 ? CrdtType.AW_SET : CrdtType.PN_COUNTER));
    }
    for (int i = 0; i < 1_000; i++) {
      ObjectId object = objects.get(random.nextInt(objects.size()));
      Operation add =
          object.type() == CrdtType.AW_SET
              ? new Operation.Add(Value.of(i))
              : new Operation.Increment(1);
      CrdtState state = store.get(object);
      if (random.nextInt(10) == 0 && state != null && state.isSpent()) {
        store.drop(object); // or not, while it is being written
      } else {
        update(object, random.nextInt(3) == 0 ? new Operation.Clear() : add);
      }
      commit();
      if (random.nextInt(4) == 0) {
        writeAll();
      }
    }
    writeAll();
    List<ObjectId> spent =
        store.scan(Optional.empty(), 1_000).stream()
            .filter(e -> e.state().isSpent())
            .map(StoredObjects.Entry::object)
            .toList();
    assertThat(spent).isNotEmpty();
    long misses = store.figures().misses();
    List<ObjectId> found = new ArrayList<>(store.removed(Optional.empty(), 5));
    found.addAll(store.removed(Optional.of(found.getLast()), 1_000));
    assertThat(found).isEqualTo(spent);
    assertThat(store.figures().misses()).isEqualTo(misses);
  }

  @Test
  void figures_tellWhatTheCacheHolds_andWhatItMay() {
    assertThat(store.figures().cachedBytes()).isZero();
    assertThat(store.figures().cacheBytesMax()).isEqualTo(2_000);
    store.setCacheBytes(1 << 20);
    assertThat(store.figures().cacheBytesMax()).isEqualTo(1 << 20);
    ObjectId first = new ObjectId(Key.of("first"), CrdtType.AW_SET);
    update(first, new Operation.Add(List.of(Value.of("x".repeat(1_000)))));
    commit();
    assertThat(store.figures().cachedBytes()).as("while it is pending").isLessThan(1_000);
    writeAll();
    long one = store.figures().cachedBytes();
    assertThat(one).isGreaterThan(1_000);
    update(
        new ObjectId(Key.of("second"), CrdtType.AW_SET),
        new Operation.Add(List.of(Value.of("x".repeat(50_000)))));
    commit();
    writeAll();
    assertThat(store.figures().cachedBytes()).isGreaterThan(one + 50_000);
    store.setCacheBytes(10_000);
    assertThat(store.figures().cachedBytes()).isLessThanOrEqualTo(10_000);
  }

  @Test
  void figures_ofAStoreInMemory_haveNoLimit() {
    MemoryStore memory = new MemoryStore();
    ObjectId object = new ObjectId(Key.of("key"), CrdtType.PN_COUNTER);
    memory.put(object, CrdtState.bottom(CrdtType.PN_COUNTER));
    assertThat(memory.figures().cachedBytes()).isPositive();
    assertThat(memory.figures().cacheBytesMax()).isZero();
  }
}
