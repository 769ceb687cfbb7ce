package io.osier.datacenter.store.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.StoredState;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.datacenter.store.rocks.RocksVersions;
import io.osier.propagation.host.Forgetting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class StoreComparisonTest {
  @TempDir private Path dir;

  private Path original() {
    return dir.resolve("original");
  }

  private Path copy() {
    return dir.resolve("copy");
  }

  /** Starts with a store, updates an object with each of these numbers, and stops. */
  private static void runs(
      Path at, String dc, VersionVector through, String object, long... numbers) {
    try (RocksDatabase database = RocksDatabase.open(at, Durability.SYNC, "test", dc, 1)) {
      RocksVersions versions = database.partition("shop", 0, Partitioning.byKey(1));
      List<Change> changes = new ArrayList<>();
      long committed = 0;
      for (long number : numbers) {
        changes.add(
            new Change.PutLogged(number, new ObjectId(Key.of(object), CrdtType.PN_COUNTER)));
        committed = number;
      }
      changes.add(
          new Change.PutState(
              new StoredState(
                  database.self(),
                  committed,
                  0,
                  1,
                  0,
                  through,
                  Map.of(),
                  true,
                  true,
                  Forgetting.NOTHING)));
      database.write(List.of(versions.encode(changes)));
    }
  }

  private void runs(Path at, String object, long... numbers) {
    runs(at, "eu", VersionVector.EMPTY, object, numbers);
  }

  private void copies() throws IOException {
    Path from = original().resolve("db");
    Files.createDirectories(copy().resolve("db"));
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : files.toList()) {
        Files.copy(file, copy().resolve("db").resolve(file.getFileName().toString()));
      }
    }
  }

  private List<String> found() {
    List<String> found = StoreComparison.compare(original(), copy());
    assertThat(StoreComparison.compare(copy(), original())).hasSameSizeAs(found);
    return found;
  }

  @Test
  void earlierStateOfAStore_isNothingWrong() throws IOException {
    runs(original(), "a", 1, 2);
    copies();
    assertThat(found()).isEmpty();
    runs(original(), "a", 3);
    runs(original(), "a", 4);
    assertThat(found()).isEmpty();
  }

  @Test
  void copiesThatBothHaveRun_areNamed_withTheNumbersThatWereGivenTwice() throws IOException {
    runs(original(), "a", 1, 2);
    copies();
    runs(original(), "b", 3, 4);
    runs(copy(), "c", 3);
    assertThat(found()).hasSize(2);
    assertThat(found().getFirst()).contains("eu/1 have been started since they parted");
    assertThat(found().getLast()).isEqualTo("shop/0: 1 numbers of eu/1 were given twice: [3]");
  }

  /** A store that was copied back: another datacenter has what it had given since. */
  @Test
  void storeThatAnotherDatacenterIsAheadOf_isNamed() {
    runs(original(), "a", 1, 2);
    runs(copy(), "us", VersionVector.EMPTY.with(new ReplicaId("eu", 1), 2), "b", 1);
    assertThat(found()).isEmpty();
    runs(copy(), "us", VersionVector.EMPTY.with(new ReplicaId("eu", 1), 3), "b", 2);
    assertThat(found())
        .singleElement()
        .asString()
        .startsWith("shop/0: us/1 has update 3 of eu/1")
        .contains("ends with 2");
  }

  /** Half of a log would show half of what was given twice, or nothing. */
  @Test
  void logThatCannotBeRead_isRefused() throws Exception {
    long[] numbers = new long[1_000];
    Arrays.setAll(numbers, i -> i + 3);
    runs(original(), "a", 1, 2);
    copies();
    runs(original(), "b", 3);
    try (RocksDatabase database = RocksDatabase.open(copy(), Durability.SYNC, "test", "eu", 1)) {
      DamagedStore.flush(database.db());
    }
    runs(copy(), "c", numbers);
    DamagedStore.flush(copy(), "test", "eu");
    DamagedStore.damageOneBlock(copy());
    assertThatThrownBy(this::found)
        .isInstanceOf(OsierException.class)
        .hasMessageContaining("is damaged");
  }

  @Test
  void whatIsNoStore_isRefused() {
    runs(original(), "a", 1);
    assertThatThrownBy(this::found).hasMessageContaining("there is no store in " + copy());
  }
}
