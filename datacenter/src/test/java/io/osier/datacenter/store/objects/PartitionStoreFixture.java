package io.osier.datacenter.store.objects;

import io.osier.core.KeyedHash;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.GroupWriter;
import io.osier.datacenter.store.memory.MemoryVersions;
import io.osier.datacenter.testing.Partitions;
import io.osier.propagation.wire.Shipment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;

/** A partition store on a folder of its own. */
abstract class PartitionStoreFixture {
  static final ReplicaId SELF = new ReplicaId("eu", 1);

  @TempDir Path dir;

  final MemoryVersions versions = new MemoryVersions();

  final List<Runnable> writes = new ArrayList<>();

  /** What evictions write, where a test says when. */
  final List<Runnable> late = new ArrayList<>();

  final List<List<Change>> groups = new ArrayList<>();

  final PartitionStore store = store();

  boolean delaysEvicted;

  long number;

  PartitionStore store() {
    return new PartitionStore(
        versions, writer(), SELF, 2_000, 1_000, KeyedHash.of(() -> 7), Runnable::run);
  }

  GroupWriter writer() {
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

  void update(ObjectId object, Operation operation) {
    update(store, object, operation);
  }

  void update(PartitionStore store, ObjectId object, Operation operation) {
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

  void commit() {
    commit(store);
  }

  void commit(PartitionStore store) {
    commit(store, number);
  }

  /**
   * Ends a group.
   *
   * @param shipped every other datacenter has the updates up to this number
   */
  void commit(PartitionStore store, long shipped) {
    store.commit(Partitions.progress(number, shipped), () -> {});
  }

  void writeAll() {
    while (!writes.isEmpty()) {
      writes.removeFirst().run();
    }
  }
}
