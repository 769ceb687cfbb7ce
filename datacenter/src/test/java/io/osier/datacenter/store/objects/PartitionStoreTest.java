package io.osier.datacenter.store.objects;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.Partitioning;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.StoreScript;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.datacenter.store.rocks.RocksVersions;
import io.osier.propagation.host.RecoveredState;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What the cache does at its own pace must not disturb what the partition does. */
final class PartitionStoreTest extends PartitionStoreFixture {
  private RecoveredState recovered = RecoveredState.NOTHING;

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
      RocksVersions rocks = database.partition("k", 0, Partitioning.byKey(1));
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
}
