package io.osier.datacenter.store.files;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.datacenter.store.rocks.RocksVersions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a store that was not closed is worth, after the same run of the system and another one. */
@EnabledOnOs(OS.LINUX)
final class BootIdTest {
  private static final int UPDATES = 20;

  @TempDir private Path dir;

  private RocksDatabase open(Durability durability) {
    return RocksDatabase.open(dir, durability, "test", "eu", 1);
  }

  private static ObjectId object(int number) {
    return new ObjectId(Key.of("flag" + number), CrdtType.EW_FLAG);
  }

  /** A store that a killed process leaves. */
  private void leave(Durability durability) {
    RocksDatabase database = open(durability);
    RocksVersions versions = database.partition("shop", 0, Partitioning.byKey(1));
    ReplicaId self = database.self();
    for (int i = 1; i <= UPDATES; i++) {
      CrdtState delta =
          CrdtState.bottom(CrdtType.EW_FLAG).prepare(new Operation.SetFlag(true), self, i, 0, i, 0);
      Change change = new Change.PutOperation(object(i), delta.context().toVersionVector(), delta);
      database.write(List.of(versions.encode(List.of(change))));
    }
    database.closeUnclean();
  }

  private void anotherRun() throws IOException {
    Files.writeString(dir.resolve("kernel"), "00000000-0000-0000-0000-000000000000");
  }

  private long found(RocksDatabase database) {
    RocksVersions versions = database.partition("shop", 0, Partitioning.byKey(1));
    return Stream.iterate(1, i -> i + 1)
        .limit(UPDATES)
        .filter(i -> !versions.load(object(i).key()).isEmpty())
        .count();
  }

  /** A killed process loses nothing that the operating system was given; a power cut may. */
  @ParameterizedTest
  @CsvSource({
    "SYNC, true, 1", "SYNC, false, 1",
    "ASYNC, true, 1", "ASYNC, false, 2",
    "NONE, true, 2", "NONE, false, 2",
  })
  void incarnationGoesOn_whereNothingCanBeLost(
      Durability durability, boolean isSameRun, long incarnation) throws IOException {
    leave(durability);
    if (!isSameRun) {
      anotherRun();
    }
    RocksDatabase again = open(durability);
    assertThat(again.self().incarnation()).isEqualTo(incarnation);
    assertThat(again.isResumed()).isEqualTo(incarnation == 1);
    if (again.isResumed()) {
      assertThat(found(again)).isEqualTo(UPDATES);
    }
    again.closeUnclean();
    RocksDatabase third = open(durability);
    assertThat(third.self().incarnation())
        .as("the run of the last life counts")
        .isEqualTo(incarnation + (durability == Durability.NONE ? 1 : 0));
    third.close();
  }

  /** What the last life could lose counts, and not what this one can. */
  @Test
  void lifeWithoutALog_isNotMadeSafeByTheNextOne() {
    leave(Durability.NONE);
    RocksDatabase again = open(Durability.ASYNC);
    assertThat(again.self().incarnation()).isEqualTo(2);
    again.close();
  }

  @Test
  void afterAnErrorOfTheDisk_nothingIsKnown() {
    leave(Durability.ASYNC);
    BootId mark = BootId.of(dir);
    assertThat(mark.isSameRun()).isTrue();
    mark.forget();
    assertThat(mark.isSameRun()).isFalse();
    RocksDatabase again = open(Durability.ASYNC);
    assertThat(again.self().incarnation()).isEqualTo(2);
    again.close();
    assertThat(mark.isSameRun()).isTrue();
  }

  /** In the same run a hole is damage, since all must be there. After a power cut it is the end. */
  @ParameterizedTest
  @CsvSource({"true", "false"})
  void damageWithinTheLog_endsItOnlyAfterAnotherRun(boolean isSameRun) throws IOException {
    leave(Durability.ASYNC);
    Path log;
    try (Stream<Path> files = Files.list(dir.resolve("db"))) {
      log =
          files
              .filter(f -> f.toString().endsWith(".log"))
              .max((a, b) -> Long.compare(a.toFile().length(), b.toFile().length()))
              .orElseThrow();
    }
    byte[] bytes = Files.readAllBytes(log);
    bytes[bytes.length / 2] ^= 1;
    Files.write(log, bytes);
    if (isSameRun) {
      refused(ErrorCode.STORE_DAMAGED, () -> open(Durability.ASYNC).close());
    } else {
      anotherRun();
      RocksDatabase again = open(Durability.ASYNC);
      assertThat(again.self().incarnation()).isEqualTo(2);
      assertThat(found(again)).isBetween(1L, UPDATES - 1L);
      again.close();
    }
  }

  /** A backup is older than what was given elsewhere, whatever run it is. */
  @Test
  void backupThatIsTakenBack_hasANewIncarnation() {
    leave(Durability.ASYNC);
    RocksDatabase database = open(Durability.ASYNC);
    Path backup = dir.resolve("backups").resolve("one");
    database.backup(backup);
    database.closeUnclean();
    StoreFiles.restore(dir, backup, "test", "eu");
    RocksDatabase again = open(Durability.ASYNC);
    assertThat(again.self().incarnation()).isEqualTo(2);
    assertThat(found(again)).isEqualTo(UPDATES);
    again.close();
  }
}
