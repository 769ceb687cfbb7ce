package io.osier.datacenter.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.objects.PartitionStore;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.datacenter.store.rocks.RocksVersions;
import io.osier.datacenter.testing.Partitions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Readers on other threads, while a decomposed set is written and let go from memory. */
final class DecomposedReadersTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final ObjectId SET = new ObjectId(Key.of("set"), CrdtType.AW_SET);
  private static final int GROUPS = 2_500;

  @TempDir private Path dir;
  private volatile boolean ended;

  private static List<Value> elements(int from, int count) {
    return IntStream.range(from, from + count).mapToObj(i -> Value.of("element " + i)).toList();
  }

  /** What is counted is in the head, what is listed in the entries. */
  private static void checkIsOneVersion(CrdtState state) {
    long counted = ((Reading.Count) state.read(new Query.Size())).value();
    Reading.Many listed = (Reading.Many) state.read(new Query.Whole());
    assertThat(listed.values()).hasSize(Math.toIntExact(counted));
  }

  private void readLoaded(VersionStore versions) {
    while (!ended) {
      versions.load(SET.key()).forEach(loaded -> checkIsOneVersion(loaded.state()));
    }
  }

  private void readDurable(PartitionStore store) {
    while (!ended) {
      store
          .durablyStored(SET.key())
          .map(StoredKey::states)
          .ifPresent(s -> s.forEach(DecomposedReadersTest::checkIsOneVersion));
      store
          .pageDurable(Optional.empty(), Optional.empty(), 10, 1 << 20)
          .entries()
          .forEach(entry -> checkIsOneVersion(entry.state()));
    }
  }

  private static void write(PartitionStore store) {
    long number = 0;
    for (int i = 0; i < GROUPS; i++) {
      Operation operation =
          i % 4 == 3
              ? new Operation.Remove(elements(2 * i % 100, 7))
              : new Operation.Add(elements(3 * i % 100, 5));
      CrdtState stored = store.get(SET);
      CrdtState before = stored == null ? CrdtState.bottom(SET.type()) : stored;
      long last = before.context().through(SELF);
      CrdtState delta = before.prepare(operation, SELF, ++number, last, number, 0);
      number = delta.context().last(SELF);
      Partitions.commit(store, SET, SELF, number, delta);
    }
  }

  @Test
  void readersWhileItIsWritten_seeOneVersion() throws Exception {
    try (RocksDatabase database = RocksDatabase.open(dir, Durability.NONE, "c", "eu", 1);
        ExecutorService readers = Executors.newFixedThreadPool(2)) {
      RocksVersions versions = database.partition("k", 0, Partitioning.byKey(1));
      PartitionStore store =
          Partitions.store(
              versions,
              WritesAtOnce.into(database, versions),
              SELF,
              new DecompositionLimits(300, 10));
      var unused = store.recover(1, true, List.of(SELF));
      List<Future<?>> reading = new ArrayList<>();
      reading.add(readers.submit(() -> readLoaded(versions)));
      reading.add(readers.submit(() -> readDurable(store)));
      try {
        write(store);
      } finally {
        ended = true;
      }
      for (Future<?> each : reading) {
        each.get();
      }
    }
  }
}
