package io.osier.datacenter.store;

import io.osier.core.Key;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.records.EncodedGroup;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.datacenter.store.rocks.RocksVersions;
import io.osier.datacenter.work.CollidingWork;
import io.osier.datacenter.work.Steps;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

/**
 * The work of writing groups of objects whose keys have one hash. Loaded as {@link CollidingWork}
 * is.
 */
public final class GroupWork implements BiConsumer<String, Long> {
  private static final int FEW = 200;
  private static final int MANY = 16 * FEW;

  /** Linear is 16, n log n about 24, quadratic 256. */
  private static final double GROWTH_MAX = 32;

  private static final ReplicaId SELF = new ReplicaId("eu", 1);

  @Override
  public void accept(String scene, Long unused) {
    try {
      Path dir = Files.createTempDirectory("group-work");
      try (RocksDatabase db = RocksDatabase.open(dir, Durability.NONE, "test", "eu", 1)) {
        RocksVersions versions = db.partition("k", 0, Partitioning.byKey(1));
        Steps.of(action(scene, db, versions, FEW / 4)); // links and loads
        long few = Steps.of(action(scene, db, versions, FEW));
        long many = Steps.of(action(scene, db, versions, MANY));
        if (many > GROWTH_MAX * few) {
          throw new AssertionError(
              scene + ": " + FEW + " took " + few + " steps, " + MANY + " took " + many);
        }
      } finally {
        delete(dir);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Runnable action(String scene, RocksDatabase db, RocksVersions versions, int n) {
    List<ObjectId> objects =
        CollidingWork.elements(n).stream()
            .map(e -> new ObjectId(Key.of(((Value.Str) e).content()), CrdtType.PN_COUNTER))
            .toList();
    EncodedGroup group = versions.encode(changes(scene, objects));
    return () -> {
      db.write(List.of(group));
      db.prune();
    };
  }

  private static List<Change> changes(String scene, List<ObjectId> objects) {
    List<Change> changes = new ArrayList<>();
    switch (scene) {
      case "pruning" -> objects.forEach(o -> changes.add(new Change.Prune(o)));
      case "dropping" -> {
        CrdtState empty = CrdtState.bottom(CrdtType.PN_COUNTER);
        CrdtState one = empty.join(empty.prepare(new Operation.Increment(1), SELF, 1, 0, 1, 0));
        objects.forEach(o -> changes.add(new Change.PutInPlace(o, one, true)));
        changes.add(new Change.DropObject(new ObjectId(Key.of("gone"), CrdtType.PN_COUNTER)));
      }
      default -> throw new IllegalArgumentException(scene);
    }
    return changes;
  }

  private static void delete(Path dir) throws IOException {
    try (Stream<Path> files = Files.walk(dir)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
