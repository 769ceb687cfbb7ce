package io.osier.datacenter.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.memory.MemoryVersions;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.datacenter.store.rocks.RocksVersions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;
import org.jspecify.annotations.Nullable;

/**
 * Both adapters against a plain list that is read by the definition: a snapshot that none is later
 * than, with the operations whose vectors are not at most its own, a missing entry being 0.
 */
final class VersionStoreProperties {
  private static final List<ReplicaId> REPLICAS =
      List.of(
          new ReplicaId("dc1", 1),
          new ReplicaId("dc2", 1),
          new ReplicaId("dc3", 7),
          new ReplicaId("dc4", 2));
  private static Path dir;
  private static RocksDatabase database;
  private static RocksVersions rocks;
  private static int objects;

  @BeforeContainer
  static void open() throws IOException {
    dir = Files.createTempDirectory("osier-versions");
    database = RocksDatabase.open(dir, Durability.NONE, "test", "dc1", 1);
    rocks = database.partition("k", 0, Partitioning.byKey(1));
  }

  @AfterContainer
  static void close() throws IOException {
    database.close();
    try (Stream<Path> files = Files.walk(dir)) {
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(f -> f.delete());
    }
  }

  private record Put(VersionVector at, boolean isSnapshot, CrdtState content) {}

  /** Vectors that name some of the first datacenters. */
  private static Arbitrary<VersionVector> vectors(int dcs) {
    return Arbitraries.integers()
        .between(0, 5)
        .list()
        .ofMaxSize(dcs)
        .withSizeDistribution(RandomDistribution.uniform())
        .map(
            numbers -> {
              VersionVector vector = VersionVector.EMPTY;
              for (int i = 0; i < numbers.size(); i++) {
                int number = numbers.get(i);
                vector = number == 0 ? vector : vector.with(REPLICAS.get(i), number);
              }
              return vector;
            });
  }

  private static CrdtState content(int i) {
    CrdtState bottom = CrdtState.bottom(CrdtType.G_SET);
    return bottom.prepare(new Operation.Add(Value.of(i)), REPLICAS.getFirst(), i + 1, i, 1, 0);
  }

  private static boolean isAtMost(VersionVector a, VersionVector b) {
    return REPLICAS.stream().allMatch(r -> a.get(r) <= b.get(r));
  }

  private static ObjectId freshObject() {
    // Keys with zero bytes, and keys that begin another key.
    int n = objects++;
    byte[] key = {(byte) (n >> 16), (byte) (n >> 8), 0, (byte) n};
    return new ObjectId(Key.of(key), CrdtType.G_SET);
  }

  private static MemoryVersions write(ObjectId object, List<Put> puts) {
    List<Change> changes = new ArrayList<>();
    for (Put p : puts) {
      changes.add(
          p.isSnapshot
              ? new Change.PutSnapshot(object, p.at, p.content)
              : new Change.PutOperation(object, p.at, p.content));
    }
    database.write(List.of(rocks.encode(changes)));
    MemoryVersions memory = new MemoryVersions();
    memory.write(changes);
    return memory;
  }

  private static List<Put> after(VersionVector snapshot, List<Put> puts) {
    return puts.stream().filter(p -> !p.isSnapshot && !isAtMost(p.at, snapshot)).toList();
  }

  /** What may be read where a snapshot is the newest: of concurrent ones any may be. */
  private static VersionStore.Loaded loaded(@Nullable Put snapshot, List<Put> puts) {
    VersionVector at = snapshot == null ? VersionVector.EMPTY : snapshot.at;
    CrdtState state = snapshot == null ? CrdtState.bottom(CrdtType.G_SET) : snapshot.content;
    long bytes = 0;
    List<Put> after = after(at, puts);
    for (Put operation : after) {
      state = state.join(operation.content);
      bytes += operation.content.sizeBytes();
    }
    return new VersionStore.Loaded(state, after.size(), bytes, true);
  }

  private static void check(VersionStore store, ObjectId object, List<Put> puts) {
    List<VersionStore.Loaded> found = store.load(object.key());
    if (puts.isEmpty()) {
      assertThat(found).isEmpty();
      return;
    }
    List<Put> snapshots = puts.stream().filter(Put::isSnapshot).toList();
    List<VersionStore.Loaded> expected =
        snapshots.stream()
            .filter(s -> snapshots.stream().noneMatch(o -> o != s && isAtMost(s.at, o.at)))
            .map(s -> loaded(s, puts))
            .toList();
    assertThat(found).hasSize(1);
    assertThat(found.getFirst()).isIn(expected.isEmpty() ? List.of(loaded(null, puts)) : expected);
  }

  /** What is put at a time. */
  private record Version(VersionVector at, boolean isSnapshot) {}

  @Provide
  Arbitrary<List<Version>> versions() {
    Arbitrary<Boolean> snapshots = Arbitraries.frequency(Tuple.of(3, false), Tuple.of(1, true));
    // A fourth datacenter joins late: earlier vectors do not name it.
    Arbitrary<List<Version>> early =
        Combinators.combine(vectors(3), snapshots).as(Version::new).list().ofMaxSize(6);
    Arbitrary<List<Version>> late =
        Combinators.combine(vectors(4), snapshots).as(Version::new).list().ofMaxSize(6);
    return Combinators.combine(early, late)
        .as((first, then) -> Stream.concat(first.stream(), then.stream()).toList())
        .withoutEdgeCases();
  }

  @Property(tries = 3_000)
  void bothAdapters_loadWhatTheDefinitionSays(@ForAll("versions") List<Version> versions) {
    ObjectId object = freshObject();
    List<Put> puts = puts(versions);
    MemoryVersions memory = write(object, puts);
    check(memory, object, puts);
    check(rocks, object, puts);
  }

  private static List<Put> puts(List<Version> versions) {
    List<Put> puts = new ArrayList<>();
    for (Version version : versions) {
      if (!version.at.isEmpty() && puts.stream().noneMatch(p -> p.at.equals(version.at))) {
        puts.add(new Put(version.at, version.isSnapshot, content(puts.size())));
      }
    }
    return puts;
  }

  /** What the newest snapshot contains goes, and nothing of what is read. */
  @Property(tries = 1_000)
  void pruning_dropsWhatTheNewestSnapshotContains_andNothingElse(
      @ForAll("versions") List<Version> versions) {
    ObjectId object = freshObject();
    List<Put> puts = puts(versions);
    MemoryVersions memory = write(object, puts);
    List<VersionStore.Loaded> before = memory.load(object.key());
    memory.write(List.of(new Change.Prune(object)));
    assertThat(memory.load(object.key())).isEqualTo(before);
    List<Put> snapshots = puts.stream().filter(Put::isSnapshot).toList();
    for (Put s : snapshots) {
      if (snapshots.stream().allMatch(other -> isAtMost(other.at, s.at))) {
        assertThat(memory.records(object)).isEqualTo(1 + after(s.at, puts).size());
      }
    }
  }

  /** The one that goes stands before the one that is read, and contains neither. */
  @Example
  void pruning_keepsWhatIsReadOfConcurrentSnapshots() {
    ObjectId object = freshObject();
    int[][] vectors = {{2, 3, 0}, {3, 0, 0}, {3, 0, 1}};
    List<Put> puts = new ArrayList<>();
    for (int[] v : vectors) {
      VersionVector at = VersionVector.EMPTY;
      for (int i = 0; i < v.length; i++) {
        at = v[i] == 0 ? at : at.with(REPLICAS.get(i), v[i]);
      }
      puts.add(new Put(at, true, content(puts.size())));
    }
    for (List<Put> order : List.of(puts, puts.reversed())) {
      MemoryVersions memory = write(object, order);
      List<VersionStore.Loaded> before = memory.load(object.key());
      assertThat(rocks.load(object.key())).isEqualTo(before);
      memory.write(List.of(new Change.Prune(object)));
      assertThat(memory.load(object.key())).isEqualTo(before);
    }
  }

  /** What only remembers its removal, page by page, keys with zero bytes among them. */
  @Property(tries = 100)
  void removedObjects_areFoundInOrder(
      @ForAll @Size(max = 60) List<@IntRange(max = 59) Integer> changes,
      @ForAll @IntRange(min = 1, max = 4) int limit) {
    MemoryVersions memory = new MemoryVersions();
    List<ObjectId> some = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      some.add(freshObject());
    }
    for (int number : changes) {
      ObjectId object = some.get(number % 20);
      // Every third of the numbers drops.
      Change change = number < 40 ? new Change.PutRemoved(object) : new Change.DropRemoved(object);
      memory.write(List.of(change));
      database.write(List.of(rocks.encode(List.of(change))));
    }
    Optional<ObjectId> after = Optional.of(some.getFirst()); // others' come before
    List<ObjectId> page;
    do {
      page = rocks.removed(after, limit);
      assertThat(page).isEqualTo(memory.removed(after, limit));
      after = page.isEmpty() ? after : Optional.of(page.getLast());
    } while (page.size() == limit);
  }

  /** The case that the thesis's first key design failed at (4.5.1). */
  @Example
  void counterexampleOfTheThesis() {
    ObjectId object = freshObject();
    ReplicaId dc1 = REPLICAS.get(0);
    ReplicaId dc2 = REPLICAS.get(1);
    int[][] vectors = {{1, 1}, {1, 2}, {2, 1}, {3, 1}};
    List<Put> puts = new ArrayList<>();
    for (int[] v : vectors) {
      VersionVector at = VersionVector.of(dc1, v[0]).with(dc2, v[1]);
      puts.add(new Put(at, puts.size() == 2, content(puts.size())));
    }
    MemoryVersions memory = write(object, puts);
    for (VersionStore store : List.of(memory, rocks)) {
      assertThat(store.load(object.key()))
          .extracting(l -> l.state())
          .containsExactly(content(2).join(content(1)).join(content(3)));
    }
  }

  /** How an update is kept. */
  private enum As {
    OPERATION,
    SNAPSHOT,
    IN_PLACE,
    /** As an operation, and then comes the snapshot of an eviction long ago. */
    LATE
  }

  /** A datacenter's update, and perhaps a tidying after it. */
  private record Step(int origin, As as, boolean prune) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    return Combinators.combine(
            Arbitraries.integers().between(0, 2),
            Arbitraries.frequency(
                Tuple.of(4, As.OPERATION),
                Tuple.of(1, As.SNAPSHOT),
                Tuple.of(2, As.IN_PLACE),
                Tuple.of(1, As.LATE)),
            Arbitraries.frequency(Tuple.of(2, false), Tuple.of(1, true)))
        .as(Step::new)
        .list()
        .ofMinSize(1)
        .ofMaxSize(30)
        .withSizeDistribution(RandomDistribution.uniform());
  }

  /**
   * The newest version is the newest snapshot with what came after it, before and after pruning.
   */
  @Property(tries = 500)
  void newest_survivesPruning(@ForAll("steps") List<Step> steps) {
    ObjectId object = freshObject();
    MemoryVersions memory = new MemoryVersions();
    CrdtState state = CrdtState.bottom(CrdtType.G_SET);
    VersionVector numbers = VersionVector.EMPTY;
    List<CrdtState> former = new ArrayList<>();
    for (int i = 0; i < steps.size(); i++) {
      Step step = steps.get(i);
      ReplicaId origin = REPLICAS.get(step.origin);
      long number = numbers.get(origin) + 1;
      numbers = numbers.with(origin, number);
      CrdtState delta =
          state.prepare(
              new Operation.Add(Value.of(i)),
              origin,
              number,
              state.context().through(origin),
              i,
              0);
      state = state.join(delta);
      List<Change> changes = new ArrayList<>();
      if (step.as == As.SNAPSHOT) {
        changes.add(new Change.PutSnapshot(object, state.context().toVersionVector(), state));
      } else if (step.as == As.IN_PLACE) {
        changes.add(new Change.PutInPlace(object, state, false));
      } else {
        changes.add(new Change.PutOperation(object, delta.context().toVersionVector(), delta));
      }
      if (step.as == As.LATE && !former.isEmpty()) {
        CrdtState old = former.get(i / 2);
        changes.add(new Change.PutSnapshot(object, old.context().toVersionVector(), old));
      }
      if (step.as != As.OPERATION) {
        changes.add(new Change.Prune(object));
      }
      former.add(state);
      memory.write(changes);
      database.write(List.of(rocks.encode(changes)));
      assertThat(rocks.load(object.key())).extracting(l -> l.state()).containsExactly(state);
      if (step.prune) {
        database.prune();
      }
      assertThat(rocks.load(object.key())).extracting(l -> l.state()).containsExactly(state);
      assertThat(memory.load(object.key())).extracting(l -> l.state()).containsExactly(state);
      if (step.as == As.IN_PLACE) {
        assertThat(memory.records(object)).isEqualTo(1);
        if (step.prune) {
          assertThat(rocks.records(object)).isEqualTo(1);
        }
      }
    }
    assertThat(rocks.objects(Optional.of(object), 1)).doesNotContain(object);
  }
}
