package io.osier.datacenter.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.propagation.ObjectId;
import io.osier.propagation.Progress;
import io.osier.propagation.Shipment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What the cache does at its own pace must not disturb what the partition does. */
final class PartitionStoreTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);

  private final MemoryVersions versions = new MemoryVersions();
  private final List<Runnable> writes = new ArrayList<>();
  private final PartitionStore store =
      new PartitionStore(versions, writer(), SELF, 2_000, 1_000, Runnable::run);
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
      public void writeSomeTime(List<Change> changes) {
        writes.add(() -> versions.write(changes));
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
    store.commit(number, () -> new PartitionProgress(number, 1, progress, number), () -> {});
  }

  private void writeAll() {
    while (!writes.isEmpty()) {
      writes.removeFirst().run();
    }
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
}
