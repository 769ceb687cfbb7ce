package io.osier.datacenter.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import io.osier.proxy.BatchException;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Keyspace.Change;
import io.osier.proxy.Keyspace.Found;
import io.osier.proxy.Keyspace.Get;
import io.osier.testing.Refused;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Many objects in one call, by network and in the process, in both kinds of keyspace. */
@NullUnmarked // what is null is refused
final class BatchesTest {
  private static final String KEYSPACES =
      "shop { sla = 400ms, partitions = 3 }, bank { sla = 400ms, consistency = causal }";

  @AutoClose private static final Ways ways = new Ways(KEYSPACES);

  private static Change increment(String key, long by) {
    return new Change(key, CrdtType.PN_COUNTER, new Operation.Increment(by));
  }

  private static Get count(String key) {
    return new Get(key, CrdtType.PN_COUNTER);
  }

  private static List<Long> counts(List<Found> found) {
    return found.stream().map(f -> ((Reading.Count) f.reading().orElseThrow()).value()).toList();
  }

  @EachWay
  void whatWasUpdatedTogether_isReadTogether(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    List<Change> changes = new ArrayList<>();
    List<Get> reads = new ArrayList<>();
    List<Long> expected = new ArrayList<>();
    for (int i = 0; i < 3_000; i++) {
      changes.add(increment("m" + i % 2_500, i));
    }
    for (int i = 0; i < 2_500; i++) {
      reads.add(count("m" + i));
      expected.add(i < 500 ? 2L * i + 2_500 : i);
    }
    keyspace.updateAll(changes);
    assertThat(counts(keyspace.readAll(reads))).isEqualTo(expected);
    keyspace.updateAll(
        List.of(
            new Change("order", CrdtType.LWW_REGISTER, new Operation.Assign(Value.of("first"))),
            increment("between", 1),
            new Change("order", CrdtType.LWW_REGISTER, new Operation.Assign(Value.of("last")))));
    assertThat(keyspace.register("order").get()).contains(Value.of("last"));
  }

  @EachWay
  void getAll_tellsOfEachKeyWhatItHolds(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    keyspace.counter("g1").increment(4);
    keyspace.set("g2").add("a");
    Map<String, Found> all = keyspace.getAll(List.of("g3", "g2", "g1", "g2"));
    assertThat(all.keySet()).containsExactly("g3", "g2", "g1");
    assertThat(all.get("g1"))
        .isEqualTo(
            new Found(Optional.of(CrdtType.PN_COUNTER), Optional.of(new Reading.Count(4)), true));
    assertThat(all.get("g2").reading()).contains(new Reading.Many(List.of(Value.of("a"))));
    assertThat(all.get("g3")).isEqualTo(new Found(Optional.empty(), Optional.empty(), false));
    assertThat(keyspace.getAll(List.of())).isEmpty();
    keyspace.updateAll(List.of());
  }

  @EachWay
  void whatFails_failsByItself(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    keyspace.set("p2").add("a");
    keyspace.boundedCounter("p4").create(0, 10);
    BatchException failed =
        catchThrowableOfType(
            BatchException.class,
            () ->
                keyspace.updateAll(
                    List.of(
                        increment("p0", 1),
                        increment("p1", 1),
                        increment("p2", 1),
                        increment("p0", 1),
                        new Change(
                            "p4",
                            CrdtType.BOUNDED_COUNTER,
                            new Operation.IncrementWithin(-5, 60_000)))));
    assertThat(failed.errors().keySet()).containsExactly(2, 4);
    assertThat(failed.errors().get(2).code()).isEqualTo(ErrorCode.WRONG_TYPE);
    assertThat(failed.errors().get(4).code())
        .as("it does not wait for rights")
        .isEqualTo(ErrorCode.NOT_ENOUGH_RIGHTS);
    assertThat(failed.code()).isEqualTo(ErrorCode.WRONG_TYPE);
    assertThat(failed).hasMessageContaining("2 of 5").hasMessageContaining("number 2");
    assertThat(failed.found()).isEmpty();
    failed =
        catchThrowableOfType(
            BatchException.class,
            () -> keyspace.readAll(List.of(count("p0"), count("p2"), count("p1"), count("p3"))));
    assertThat(failed.errors().keySet()).containsExactly(1);
    assertThat(failed.found().keySet()).containsExactly(0, 2, 3);
    assertThat(counts(List.copyOf(failed.found().values()))).containsExactly(2L, 1L, 0L);
  }

  /** More than one answer holds is asked for again, and a large one is alone. */
  @ParameterizedTest
  @CsvSource({"network, shop", "network, bank", "embedded, shop"})
  void largeValues_comeInSeveralAnswers(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    List<Get> reads = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      keyspace.register("large" + i).assign(Value.of(new byte[1_000_000 + i]));
      reads.add(new Get("large" + i, CrdtType.LWW_REGISTER));
    }
    List<Found> found = keyspace.readAll(reads);
    for (int i = 0; i < 12; i++) {
      Reading.Single value = (Reading.Single) found.get(i).reading().orElseThrow();
      assertThat(((Value.Bytes) value.value().orElseThrow()).content()).hasSize(1_000_000 + i);
    }
  }

  /** Of what was seen elsewhere nothing is missing here, and of what is read all is seen. */
  @ParameterizedTest
  @CsvSource({"shop", "bank"})
  void sessionsGuarantees_hold(String name) {
    Keyspace there = ways.there("network", name);
    List<Change> changes = new ArrayList<>();
    List<Get> reads = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      changes.add(increment("s" + i, 7));
      reads.add(count("s" + i));
    }
    there.updateAll(changes);
    var session =
        ways.client().session(io.osier.proxy.SessionOptions.DEFAULT.after(there.token().encode()));
    assertThat(counts(session.keyspace(name).readAll(reads))).containsOnly(7L);
    await()
        .untilAsserted(
            () -> assertThat(counts(ways.here("network", name).readAll(reads))).containsOnly(7L));
    Keyspace fresh = ways.here("network", name);
    fresh.readAll(reads);
    assertThat(fresh.token().toString()).as("what it has seen").contains("us/");
  }

  @ParameterizedTest
  @CsvSource({"network, shop", "embedded, bank"})
  void whatCanBeSeenToBeWrong_isSaid_andNothingIsDone(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    Change fine = increment("w", 1);
    refused("10000", () -> keyspace.updateAll(Collections.nCopies(Request.BATCH_MAX + 1, fine)));
    refused(
        "10000", () -> keyspace.readAll(Collections.nCopies(Request.BATCH_MAX + 1, count("w"))));
    refused(
        "an operation",
        () -> keyspace.updateAll(List.of(fine, new Change("w", CrdtType.PN_COUNTER, null))));
    refused("a change", () -> keyspace.updateAll(Arrays.asList(fine, null)));
    refused("a key", () -> keyspace.getAll(Arrays.asList("w", null)));
    refused("a read", () -> keyspace.readAll(Arrays.asList(count("w"), null)));
    refused("a list of changes", () -> keyspace.updateAll((List<Change>) null));
    refused(
        "a query",
        () -> keyspace.readAll(List.of(new Get(Key.of("w"), Optional.empty(), (Query) null))));
    assertThat(keyspace.exists("w")).isFalse();
  }

  private static void refused(
      String words, org.assertj.core.api.ThrowableAssert.ThrowingCallable c) {
    assertThatThrownBy(c).hasMessageContaining(words).is(Refused.with(ErrorCode.INVALID_ARGUMENT));
  }

  @BothWays
  void unknownKeyspace_isNamed(String how) {
    assertThatThrownBy(() -> ways.here(how, "nope").getAll(List.of("a")))
        .is(Refused.with(ErrorCode.UNKNOWN_KEYSPACE));
  }
}
