package io.osier.datacenter.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyedHash;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.propagation.host.Progress;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What the cache does at its own pace must not disturb what the partition does. */
final class PartitionStoreTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);

  private final MemoryVersions versions = new MemoryVersions();
  private final List<Runnable> writes = new ArrayList<>();
  private final PartitionStore store =
      new PartitionStore(
          versions, writer(), SELF, 2_000, 1_000, KeyedHash.of(() -> 7), Runnable::run);
  private long number;

  private GroupWriter writer() {
    return new GroupWriter() {
      @Override
      public void write(Group group) {
        writes.add(
            () -> {
              versions.write(group.changes());
              group.written().run();
            });
      }

      @Override
      public Runnable someTime(List<Change> changes) {
        return () -> writes.add(() -> versions.write(changes));
      }
    };
  }

  private void update(ObjectId object, Operation operation) {
    Causal before = store.get(object);
    Causal state = before == null ? Causal.bottom(object.type()) : before;
    long predecessor = state.context().through(SELF);
    Causal delta = state.prepare(operation, SELF, ++number, predecessor, number, 0);
    number = delta.context().last(SELF);
    Causal after = state.join(delta);
    store.put(object, after);
    store.append(
        new Shipment(object, SELF, predecessor, VersionVector.EMPTY, number, 1, 0, delta), after);
  }

  private void commit() {
    Progress progress = new Progress(VersionVector.EMPTY, Map.of(), true);
    store.commit(Optional.of(new PartitionProgress(number, 1, progress, number)), () -> {});
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
    ObjectStore.Page page = new ObjectStore.Page(List.of(), false);
    while (!page.end()) {
      Optional<ObjectId> after = found.isEmpty() ? Optional.empty() : Optional.of(found.getLast());
      page = store.pageDurable(after, 100, 2_500);
      assertThat(page.entries()).hasSizeLessThanOrEqualTo(3);
      for (ObjectStore.Entry entry : page.entries()) {
        assertThat(entry.state().sizeBytes()).as("durable").isGreaterThan(1_000);
        found.add(entry.object());
      }
    }
    assertThat(found).isEqualTo(all);
    assertThat(store.pageDurable(Optional.empty(), 4, 1 << 20).entries()).hasSize(4);
  }

  @Test
  void droppedObject_isNotBroughtBack_byAnEvictionMeanwhile() {
    ObjectId gone = new ObjectId(Key.of("gone"), CrdtType.EW_FLAG);
    for (int i = 0; i < 20; i++) {
      update(gone, new Operation.SetFlag(i % 2 == 0));
      commit();
      writeAll();
    }
    assertThat(store.drop(gone)).isTrue();
    commit();
    // Before the group is written the cache evicts what it knew of the object.
    for (int i = 0; i < 50; i++) {
      store.prefetch(Key.of("other " + i));
      update(
          new ObjectId(Key.of("other " + i), CrdtType.LWW_REGISTER),
          new Operation.Assign(Value.of("x".repeat(200))));
    }
    commit();
    writeAll();
    assertThat(versions.load(gone.key())).isEmpty();
    assertThat(store.get(gone)).isNull();
  }

  @Test
  void droppedObject_isNotBroughtBack_byAnEvictionBefore() {
    ObjectId gone = new ObjectId(Key.of("gone"), CrdtType.EW_FLAG);
    for (int i = 0; i < 20; i++) {
      update(gone, new Operation.SetFlag(i % 2 == 0));
      commit();
      writeAll();
    }
    store.setCacheBytes(0);
    assertThat(store.isCached(gone.key())).isFalse();
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
      Causal state = store.get(object);
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
            .map(ObjectStore.Entry::object)
            .toList();
    assertThat(spent).isNotEmpty();
    long misses = store.figures().misses();
    List<ObjectId> found = new ArrayList<>(store.removed(Optional.empty(), 5));
    found.addAll(store.removed(Optional.of(found.getLast()), 1_000));
    assertThat(found).isEqualTo(spent);
    assertThat(store.figures().misses()).isEqualTo(misses);
  }
}
