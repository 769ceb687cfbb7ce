package io.osier.datacenter.store.records;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.DecompositionLimits;
import io.osier.datacenter.store.GroupWriter;
import io.osier.datacenter.store.VersionStore;
import io.osier.datacenter.store.memory.MemoryVersions;
import io.osier.datacenter.store.objects.PartitionStore;
import io.osier.datacenter.testing.Partitions;
import io.osier.propagation.host.StoredObjects.Entry;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/** Stores of objects that are decomposed when they have some elements. */
abstract class DecomposedStores {
  static final ReplicaId SELF = new ReplicaId("eu", 1);
  static final ReplicaId PEER = new ReplicaId("us", 1);
  static final List<ObjectId> OBJECTS =
      List.of(
          new ObjectId(Key.of("a"), CrdtType.AW_SET),
          new ObjectId(Key.of("a"), CrdtType.OR_MAP),
          new ObjectId(Key.of("a\0"), CrdtType.RW_SET),
          new ObjectId(Key.of("b"), CrdtType.AW_SET));

  enum Kind {
    ADD,
    REMOVE,
    CLEAR,
    ARRIVE,
    ARRIVE_WHOLE,
    DROP,
    COMMIT,
    WRITE,
    EVICT,
    END_LEASES,
    CRASH
  }

  record Step(Kind kind, int object, int from, int count) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Kind> kinds =
        Arbitraries.frequency(
            Tuple.of(12, Kind.ADD),
            Tuple.of(5, Kind.REMOVE),
            Tuple.of(1, Kind.CLEAR),
            Tuple.of(3, Kind.ARRIVE),
            Tuple.of(2, Kind.ARRIVE_WHOLE),
            Tuple.of(2, Kind.DROP),
            Tuple.of(9, Kind.COMMIT),
            Tuple.of(8, Kind.WRITE),
            Tuple.of(3, Kind.EVICT),
            Tuple.of(3, Kind.END_LEASES),
            Tuple.of(1, Kind.CRASH));
    return Combinators.combine(
            kinds,
            Arbitraries.frequency(Tuple.of(6, 0), Tuple.of(1, 1), Tuple.of(2, 2), Tuple.of(2, 3)),
            Arbitraries.integers().between(0, 30),
            Arbitraries.integers().between(1, 12))
        .as(Step::new)
        .list()
        .ofMaxSize(60);
  }

  /** Where groups are written. */
  interface Disk {
    VersionStore versions();

    void write(List<Change> changes);

    /** What was read so far is read by what is there from now on, as after a minute. */
    default void endLeases() {}
  }

  static Disk inMemory() {
    MemoryVersions versions = new MemoryVersions();
    return new Disk() {
      @Override
      public VersionStore versions() {
        return versions;
      }

      @Override
      public void write(List<Change> changes) {
        versions.write(changes);
      }
    };
  }

  /** A store in use, and what it must have. */
  static final class Scene {
    final Disk disk;
    final DecompositionLimits limits;
    final ArrayDeque<Runnable> writes = new ArrayDeque<>();
    PartitionStore store;

    /** As it was executed, and as it is durable. */
    Map<ObjectId, CrdtState> present = new TreeMap<>();

    Map<ObjectId, CrdtState> durable = new TreeMap<>();

    /** A peer that has all of ours that was executed, and something of its own. */
    final Map<ObjectId, CrdtState> elsewhere = new TreeMap<>();

    long number;
    long peerNumber;

    Scene(Disk disk, DecompositionLimits limits) {
      this.disk = disk;
      this.limits = limits;
      this.store = open();
    }

    PartitionStore open() {
      PartitionStore opened = Partitions.store(disk.versions(), writer(), SELF, limits);
      var unused = opened.recover(1, true, List.of(SELF, PEER));
      return opened;
    }

    GroupWriter writer() {
      return new GroupWriter() {
        @Override
        public void write(Group group) {
          Map<ObjectId, CrdtState> then = new TreeMap<>(present);
          writes.add(
              () -> {
                disk.write(group.changes());
                group.written().run();
                durable = then;
              });
        }

        @Override
        public Runnable someTime(List<Change> changes) {
          return () -> writes.add(() -> disk.write(changes));
        }
      };
    }

    static CrdtState of(Map<ObjectId, CrdtState> states, ObjectId object) {
      CrdtState state = states.get(object);
      return state == null ? CrdtState.bottom(object.type()) : state;
    }

    void update(ObjectId object, Operation operation) {
      CrdtState before = of(present, object);
      long predecessor = before.context().through(SELF);
      CrdtState delta = before.prepare(operation, SELF, ++number, predecessor, number, 0);
      number = delta.context().last(SELF);
      apply(object, delta, SELF, number);
    }

    void arrive(ObjectId object, Operation operation, boolean whole) {
      CrdtState there = of(elsewhere, object).join(of(present, object));
      long predecessor = there.context().through(PEER);
      CrdtState delta = there.prepare(operation, PEER, ++peerNumber, predecessor, peerNumber, 0);
      peerNumber = delta.context().last(PEER);
      there = there.join(delta);
      elsewhere.put(object, there);
      apply(object, whole ? there : delta, PEER, peerNumber);
    }

    void apply(ObjectId object, CrdtState content, ReplicaId origin, long last) {
      present.put(object, of(present, object).join(content));
      CrdtState before = store.get(object);
      CrdtState after = (before == null ? CrdtState.bottom(object.type()) : before).join(content);
      store.put(object, after);
      store.append(
          new Shipment(object, origin, 0, VersionVector.EMPTY, last, 1, 0, content), after);
    }

    void drop(ObjectId object) {
      CrdtState state = present.get(object);
      if (state != null && state.isSpent() && store.drop(object)) {
        present.remove(object);
        elsewhere.remove(object);
      }
    }

    void commit() {
      store.commit(Partitions.progress(number, number), () -> {});
    }

    void write() {
      if (!writes.isEmpty()) {
        writes.removeFirst().run();
      }
    }

    void evict() {
      store.setCacheBytes(0);
      store.setCacheBytes(1 << 20);
    }

    void crash() {
      writes.clear();
      present = new TreeMap<>(durable);
      elsewhere.clear();
      store = open();
    }

    /** What is not decomposed any more, or was dropped, leaves nothing behind. */
    void checkEntries(ObjectId object) {
      CrdtState state = store.getDurable(object);
      if (writes.isEmpty() && (state == null || !Decomposition.isDecomposed(state))) {
        assertThat(hasEntries(disk.versions(), object)).isFalse();
      }
    }

    void check() {
      for (ObjectId object : OBJECTS) {
        assertThat(store.get(object)).isEqualTo(present.get(object));
        assertThat(store.getDurable(object)).isEqualTo(durable.get(object));
        checkEntries(object);
      }
      assertThat(store.scan(Optional.empty(), 10).stream().map(Entry::object))
          .containsAll(durable.keySet().stream().filter(present::containsKey).toList());
      for (Entry entry : store.scan(Optional.empty(), 10)) {
        assertThat(entry.state()).isEqualTo(present.get(entry.object()));
      }
    }
  }

  static boolean hasEntries(VersionStore versions, ObjectId object) {
    return !versions.entries(object).page(null, true, false, 1).isEmpty();
  }

  static Operation add(ObjectId object, Step step) {
    IntStream numbers = IntStream.range(step.from, step.from + step.count);
    return object.type() == CrdtType.OR_MAP
        ? new Operation.UpdateFields(
            numbers
                .mapToObj(
                    i ->
                        new Operation.FieldUpdate(
                            new FieldId("field" + i, CrdtType.PN_COUNTER),
                            new Operation.Increment(1)))
                .toList())
        : new Operation.Add(numbers.mapToObj(DecomposedStoreProperties::element).toList());
  }

  static Value element(int i) {
    return Value.of("element" + i);
  }

  static Operation remove(ObjectId object, Step step) {
    IntStream numbers = IntStream.range(step.from, step.from + 2 * step.count);
    return object.type() == CrdtType.OR_MAP
        ? new Operation.RemoveFields(numbers.mapToObj(i -> "field" + i).toList())
        : new Operation.Remove(numbers.mapToObj(DecomposedStoreProperties::element).toList());
  }

  static void run(Scene scene, List<Step> steps, Consumer<Scene> look) {
    for (Step step : steps) {
      ObjectId object = OBJECTS.get(step.object);
      switch (step.kind) {
        case ADD -> scene.update(object, add(object, step));
        case REMOVE -> scene.update(object, remove(object, step));
        case CLEAR -> scene.update(object, new Operation.Clear());
        case ARRIVE -> scene.arrive(object, add(object, step), false);
        case ARRIVE_WHOLE -> scene.arrive(object, remove(object, step), true);
        case DROP -> scene.drop(object);
        case COMMIT -> scene.commit();
        case WRITE -> scene.write();
        case EVICT -> scene.evict();
        case END_LEASES -> scene.disk.endLeases();
        case CRASH -> scene.crash();
      }
      scene.check();
      look.accept(scene);
    }
  }
}
