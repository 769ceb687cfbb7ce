package io.osier.datacenter.store.rocks;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.KeyedHash;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.DamagedRanges;
import io.osier.datacenter.store.Deadline;
import io.osier.datacenter.store.GroupWriter;
import io.osier.datacenter.store.files.DamagedStore;
import io.osier.datacenter.store.objects.Deadlines;
import io.osier.datacenter.store.objects.PartitionStore;
import io.osier.datacenter.store.records.RecordKeys;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Whoever reads a store whose blocks are damaged is told so, and everybody else, too. */
@SuppressWarnings("NullAway.Init") // each test opens its store first
final class DamagedReadersTest extends DamagedBlocks {
  private PartitionStore store(Executor readers) {
    GroupWriter writer =
        new GroupWriter() {
          @Override
          public void write(Group group) {
            group.written().run();
          }

          @Override
          public Runnable someTime(List<Change> changes) {
            return () -> {};
          }
        };
    return new PartitionStore(versions, writer, SELF, 1 << 20, 100, KeyedHash.of(() -> 7), readers);
  }

  private static Arguments reader(String name, Consumer<DamagedReadersTest> read) {
    return Arguments.of(name, read);
  }

  private static Arguments ofStore(String name, Consumer<PartitionStore> read) {
    return reader(name, t -> read.accept(t.store(Runnable::run)));
  }

  static Stream<Arguments> readers() {
    Optional<ObjectId> start = Optional.empty();
    return Stream.of(
        reader("one key", t -> t.versions.load(object(5).key())),
        reader("a walk", t -> t.versions.objects(Optional.empty(), 10)),
        reader("a walk's middle", t -> t.versions.objects(Optional.of(object(100)), 10)),
        reader("removals", t -> t.versions.removed(Optional.empty(), 10)),
        reader("deadlines", t -> t.versions.deadlines(Optional.empty(), 10)),
        reader("the own log", t -> t.versions.logged(0, 10)),
        reader("transactions", t -> t.versions.transactions()),
        reader(
            "a part of a large object",
            t -> t.versions.entries(object(0)).get(object(9).key().toBytes())),
        reader(
            "parts of a large object",
            t -> t.versions.entries(object(0)).page(null, true, false, 10)),
        reader(
            "parts of a large object, backwards",
            t -> t.versions.entries(object(0)).page(null, true, true, 10)),
        ofStore("an object", s -> s.get(object(1))),
        ofStore("a durable object", s -> s.getDurable(object(1))),
        ofStore("into the cache", s -> s.prefetch(object(1).key())),
        ofStore("a durable page", s -> s.pageDurable(start, Optional.empty(), 10, 1 << 20)),
        ofStore("a page", s -> s.pageNow(start, 10, 1 << 20)),
        ofStore("a page that is read ahead", s -> s.page(start, 10, 1 << 20)),
        ofStore("the own log of a store", s -> s.logged(0, 10)),
        ofStore("a start", s -> s.recover(2, true, List.of())));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("readers")
  void reader_isTold_andSoIsEverybody(String name, Consumer<DamagedReadersTest> read)
      throws Exception {
    makeDamaged(true);
    assertThat(database.damage().all()).isEmpty();
    for (int i = 0; i < 2; i++) {
      refused(ErrorCode.STORE_DAMAGED, () -> read.accept(this));
    }
    assertIsReported();
    assertThat(versions.load(WHOLE.key())).as("what is whole").hasSize(1);
  }

  /** Where it stood is not to be guessed (no dot is given twice): the start ends. */
  @Test
  void partitionWhoseStateCannotBeRead_isNotOpened() throws Exception {
    database = open();
    versions = database.partition("shop", 0, Partitioning.byKey(1));
    DamagedStore.flush(database.db());
    byte[] large = new byte[20_000]; // a block of its own
    new Random(1).nextBytes(large);
    database.db().put(new RecordKeys(0).state(), large);
    DamagedStore.flush(database.db());
    database.closeUnclean();
    DamagedStore.damageAllBlocks(dir);
    database = open();
    refused(ErrorCode.STORE_DAMAGED, () -> database.partition("shop", 0, Partitioning.byKey(1)));
    assertThat(database.damage().all().getFirst().where())
        .isEqualTo("partition shop/0 to partition shop/0");
  }

  @Test
  void keyOfUnknownTypes_isReadByAWalk_whichIsTold() throws Exception {
    makeDamaged(false);
    refused(ErrorCode.STORE_DAMAGED, () -> versions.load(object(5).key()));
    assertIsReported();
  }

  /** What is read ahead is read by threads of others, who must not end with it. */
  @Test
  void readAhead_throwsNothingIntoItsExecutor_andBringsWhatIsWhole() throws Exception {
    makeDamaged(true);
    List<Runnable> reads = new ArrayList<>();
    PartitionStore store = store(reads::add);
    assertThat(store.page(Optional.empty(), 10, 1 << 20)).isEmpty();
    assertThat(store.areAtHand(List.of(object(1), object(2), WHOLE))).isFalse();
    reads.forEach(Runnable::run);
    assertThat(store.isCached(WHOLE.key())).isTrue();
    assertIsReported();
  }

  /** Nothing is lost by not knowing them, so a start goes on, and reads them again some time. */
  @Test
  void deadlinesThatCannotBeRead_areReadAgainLater_andNotAtOnce() throws Exception {
    makeDamaged(true);
    int[] asked = {0};
    Deadlines.Notes notes =
        new Deadlines.Notes() {
          @Override
          public List<Deadline> deadlines(Optional<Deadline> after, int limit) {
            asked[0]++;
            return versions.deadlines(after, limit);
          }

          @Override
          public long group() {
            return 0;
          }

          @Override
          public long durableGroup() {
            return 0;
          }

          @Override
          public void wake() {}
        };
    Deadlines deadlines = new Deadlines(notes, Runnable::run, 1 << 20);
    deadlines.recover();
    long now = 1_000_000;
    for (int i = 0; i < 100; i++) {
      if (deadlines.nextMillis() <= now) {
        assertThat(deadlines.take(now, 10)).isEmpty();
      }
    }
    assertThat(asked[0]).isEqualTo(2);
    assertThat(deadlines.nextMillis()).isEqualTo(now + Deadlines.RETRY_MILLIS);
    assertThat(deadlines.take(now + Deadlines.RETRY_MILLIS, 10)).isEmpty();
    assertThat(asked[0]).isEqualTo(3);
    assertIsReported();
  }

  @Test
  void backup_ofAStoreThatIsKnownToBeDamaged_isRefused() throws Exception {
    makeDamaged(true);
    assertThatThrownBy(() -> versions.load(object(5).key())).isInstanceOf(OsierException.class);
    refused(ErrorCode.STORE_DAMAGED, () -> database.backup(dir.resolve("b")))
        .hasMessageContaining("partition shop/0")
        .hasMessageContaining("none was made");
  }

  @Test
  void damage_isBounded_whateverIsMet() {
    database = open();
    DamagedRanges damage = new DamagedRanges(() -> 1, Optional.empty());
    for (int i = 0; i < 10 * DamagedRanges.RANGES_MAX; i++) {
      damage.met("partition shop/0", i + "x".repeat(10_000));
    }
    assertThat(damage.failedReads()).isEqualTo(10L * DamagedRanges.RANGES_MAX);
    assertThat(damage.all())
        .hasSize(DamagedRanges.RANGES_MAX)
        .allMatch(r -> r.what().length() <= DamagedRanges.TEXT_MAX + 1);
  }

  @Test
  void whatIsDropped_isDamagedNoMore() throws Exception {
    makeDamaged(true);
    assertThatThrownBy(() -> versions.load(object(5).key())).isInstanceOf(OsierException.class);
    database.drop("shop");
    assertThat(database.damage().isEmpty()).isTrue();
  }
}
