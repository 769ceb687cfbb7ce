package io.osier.datacenter.embedded;

import static io.osier.datacenter.embedded.Ways.LONG;
import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Call;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Program;
import io.osier.proxy.values.Values;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Programs of the client library, by network and in the process. */
final class ProgramTest {
  private static final String KEYSPACES =
      "shop { sla = 400ms, partitions = 1 }, wide { sla = 400ms, partitions = 8 },"
          + " bank { sla = 400ms, consistency = causal }";
  private static final int THREADS = 4;
  private static final int ROUNDS = 100;

  @AutoClose private static final Ways ways = new Ways(KEYSPACES);

  @EachWay
  void program_isDoneAsAWhole_andTellsWhatBecameOfEachCall(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    Program.Result done =
        keyspace
            .program()
            .ifAbsent("lock")
            .update(
                batch -> {
                  batch.register("lock").assign("ada");
                  batch.counter("tries").increment();
                })
            .updateAndRead("number", CrdtType.STRING, new Operation.Increment(4))
            .update(
                Key.of("lock"), CrdtType.AW_SET, new Operation.Add(Value.of(1)), Optional.empty())
            .read("tries")
            .version("lock")
            .run();
    assertThat(done.held()).isTrue();
    assertThat(done.isDone(1)).isTrue();
    assertThat(done.found(3).reading().orElseThrow().asValue()).contains(Value.of("4"));
    refused(ErrorCode.WRONG_TYPE, () -> done.isDone(4));
    assertThat(done.found(5).reading().orElseThrow().asLong()).isEqualTo(1);
    VersionVector version = done.answers().get(6).version();
    assertThat(keyspace.counter("tries").get()).isEqualTo(1);

    Program.Result refused =
        keyspace
            .program()
            .ifAbsent("lock")
            .update(batch -> batch.counter("tries").increment())
            .read("lock")
            .run();
    assertThat(refused.held()).isFalse();
    assertThat(refused.isDone(1)).isFalse();
    assertThat(refused.found(2).reading().orElseThrow().asValue()).contains(Value.of("ada"));
    assertThat(keyspace.counter("tries").get()).isEqualTo(1);

    Program guarded =
        keyspace
            .program()
            .ifUnchanged("lock", version)
            .update(batch -> batch.register("lock").assign("bob"));
    assertThat(guarded.run().held()).isTrue();
    assertThat(guarded.run().held()).as("it has changed that itself").isFalse();
    Keyspace there = ways.there(how, name);
    await()
        .atMost(LONG)
        .until(
            () -> // each object by itself
            there.register("lock").get().equals(Optional.of(Value.of("bob")))
                    && there.string("number").get().equals(Optional.of("4")));
  }

  @ParameterizedTest
  @CsvSource({"network, shop", "embedded, shop"})
  void keys_areRenamedAndCopied_withWhatWasAcknowledgedAtOnce(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    for (int i = 0; i < 10; i++) {
      keyspace.counter("from").increment(); // of an embedded datacenter in front of the partition
    }
    assertThat(keyspace.copy("from", "copy")).isTrue();
    keyspace.counter("from").increment();
    assertThat(keyspace.rename("from", "to")).isTrue();
    assertThat(keyspace.rename("from", "to")).isFalse();
    assertThat(keyspace.exists("from")).isFalse();
    assertThat(keyspace.counter("copy").get()).isEqualTo(10);
    assertThat(keyspace.counter("to").get()).isEqualTo(11);
    assertThat(
            keyspace
                .program()
                .copyIfAbsent("copy", "to")
                .renameIfAbsent("copy", "moved")
                .expireIf("moved", Duration.ofHours(1), Call.When.NONE)
                .expireIf("moved", Duration.ofHours(1), Call.When.NONE)
                .run()
                .answers()
                .stream()
                .map(Program.Answer::isDone))
        .containsExactly(false, true, true, false);
    keyspace.set("set").add("a", "b", "c");
    Program.Result taken =
        keyspace
            .program()
            .take("set", CrdtType.AW_SET, 2)
            .read(Key.of("set"), Optional.of(CrdtType.AW_SET), new Query.Size())
            .run();
    assertThat(taken.found(0).reading().orElseThrow().asList()).hasSize(2);
    assertThat(taken.found(1).reading()).contains(new Reading.Count(1));
  }

  @BothWays
  void whatMakesNoSense_isRefused_andNothingIsDone(String how) {
    Keyspace wide = ways.here(how, "wide");
    Program two = wide.program();
    for (int i = 0; i < 20; i++) {
      String key = "key" + i;
      two.update(batch -> batch.counter(key).increment());
    }
    assertThatThrownBy(two::run).hasMessageContaining("must be in one partition");
    assertThat(wide.getAll(List.of("key0", "key1")).values()).noneMatch(f -> f.exists());
    Program tooMany = wide.program();
    for (int i = 0; i < 10_001; i++) {
      tooMany.read("one");
    }
    assertThatThrownBy(tooMany::run).hasMessageContaining("1 to 10000 calls");
    assertThatThrownBy(wide.program()::run).hasMessageContaining("1 to 10000 calls");
    Program guarded =
        wide.program()
            .ifUnchanged("other", VersionVector.EMPTY)
            .update(batch -> batch.counter("one").increment());
    assertThatThrownBy(guarded::run).hasMessageContaining("'other', which it guards");
    assertThatThrownBy(() -> wide.rename("one", "one")).hasMessageContaining("to itself");
    assertThat(wide.exists("one")).isFalse();
    Operation large = new Operation.Assign(Value.of(new byte[80 << 20]));
    Program replacing = wide.program().replace("one", CrdtType.STRING, large, false);
    refused(ErrorCode.VALUE_TOO_LARGE, replacing::run);
  }

  /** What two programs read and write is not mixed: each increment of a register counts. */
  @ParameterizedTest
  @CsvSource({"network, shop", "embedded, shop", "network, bank", "embedded, bank"})
  void programsOfManyThreads_neverComeBetweenEachOther(String how, String name) throws Exception {
    List<Future<Void>> all = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      for (int t = 0; t < THREADS; t++) {
        all.add(
            threads.submit(
                () -> {
                  Keyspace mine = ways.here(how, name);
                  for (int i = 0; i < ROUNDS; ) {
                    i += countsUp(mine) ? 1 : 0;
                  }
                  return null;
                }));
      }
      for (Future<Void> one : all) {
        one.get(LONG.toSeconds(), TimeUnit.SECONDS);
      }
    }
    assertThat(ways.here(how, name).register("sum").get())
        .contains(Value.of((long) THREADS * ROUNDS));
  }

  private static boolean countsUp(Keyspace keyspace) {
    Program.Result read = keyspace.program().version("sum").read("sum").run();
    long before =
        read.found(1)
            .reading()
            .flatMap(Reading::asValue)
            .map(v -> ((Value.Int) v).content())
            .orElse(0L);
    return keyspace
        .program()
        .ifUnchanged("sum", read.answers().getFirst().version())
        .update(batch -> batch.register("sum").assign(before + 1))
        .run()
        .held();
  }

  /** What is not in memory is read from the disk before the program's turn. */
  @Test
  void program_isDoneOnWhatLiesOnTheDisk(@TempDir Path dir) {
    String config =
        EmbeddedCluster.alone("dir = \"" + dir + "\", cache = 1MiB", "shop { partitions = 1 }");
    try (EmbeddedDatacenter eu = EmbeddedCluster.start(config, Values.plain())) {
      eu.awaitReady(LONG);
      Keyspace keyspace = eu.session().keyspace("shop");
      for (int i = 0; i < 300; i++) {
        int number = i;
        keyspace
            .program()
            .update(batch -> batch.register("r" + number).assign("x".repeat(10_000) + number))
            .run();
      }
      for (int i = 0; i < 300; i += 50) {
        assertThat(keyspace.rename("r" + i, "moved" + i)).isTrue();
        Program.Result read = keyspace.program().read("moved" + i).read("r" + i).run();
        assertThat(read.found(0).reading().orElseThrow().asValue().orElseThrow().toString())
            .endsWith("x" + i);
        assertThat(read.found(1).exists()).isFalse();
      }
    }
  }

  /** Of a set that is decomposed, with updates of objects in turns, so that their numbers are. */
  @Test
  void whatAProgramHasDone_isThereAfterARestart(@TempDir Path dir) {
    String config = EmbeddedCluster.alone("dir = \"" + dir + "\"", "shop { partitions = 1 }");
    List<Value> many = IntStream.range(0, 5_000).mapToObj(i -> Value.of("element" + i)).toList();
    List<Value> left;
    try (EmbeddedDatacenter eu = EmbeddedCluster.start(config, Values.plain())) {
      eu.awaitReady(LONG);
      Keyspace keyspace = eu.session().keyspace("shop");
      keyspace.update(Key.of("s"), CrdtType.AW_SET, new Operation.Add(many));
      Program.Result done =
          keyspace
              .program()
              .update(batch -> batch.counter("n").increment(1))
              .take("s", CrdtType.AW_SET, 10)
              .update(batch -> batch.counter("n").increment(2))
              .take("s", CrdtType.AW_SET, 10)
              .update(batch -> batch.counter("n").increment(4))
              .rename("s", "t")
              .replace("s", CrdtType.AW_SET, new Operation.Add(Value.of("new")), false)
              .run();
      left = new ArrayList<>(many);
      left.removeAll(done.found(1).reading().orElseThrow().asList());
      left.removeAll(done.found(3).reading().orElseThrow().asList());
      assertThat(left).hasSize(4_980);
    }
    try (EmbeddedDatacenter eu = EmbeddedCluster.start(config, Values.plain())) {
      eu.awaitReady(LONG);
      Keyspace keyspace = eu.session().keyspace("shop");
      Program.Result read =
          keyspace
              .program()
              .update(batch -> batch.counter("n").increment(8))
              .read("n")
              .read("s")
              .read("t")
              .run();
      assertThat(read.found(1).reading().orElseThrow().asLong()).isEqualTo(15);
      assertThat(read.found(2).reading().orElseThrow().asList()).containsExactly(Value.of("new"));
      assertThat(read.found(3).reading().orElseThrow().asList())
          .containsExactlyInAnyOrderElementsOf(left);
    }
  }
}
