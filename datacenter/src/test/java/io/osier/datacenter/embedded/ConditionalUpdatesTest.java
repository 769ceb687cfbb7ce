package io.osier.datacenter.embedded;

import static io.osier.datacenter.embedded.Ways.LONG;
import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.ObjectSpace;
import io.osier.proxy.RegisterHandle;
import io.osier.proxy.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Updates that are done if something holds, by network and in the process. */
@NullUnmarked // what is null is refused
final class ConditionalUpdatesTest {
  private static final int THREADS = 6;
  private static final int ROUNDS = 200;

  @AutoClose private static final Ways ways = new Ways();

  private static void registers(ObjectSpace space, String prefix) {
    for (RegisterHandle register :
        List.of(
            space.register(prefix + "r"),
            space.map(prefix + "m").register("f"),
            space.map(prefix + "m").map("inner").register("f"))) {
      assertThat(register.assignIf(Value.of("a"), Value.of("b"))).isFalse();
      assertThat(register.get()).isEmpty();
      assertThat(register.assignIfAbsent(Value.of("a"))).isTrue();
      assertThat(register.assignIfAbsent(Value.of("x"))).isFalse();
      assertThat(register.assignIf(Value.of("b"), Value.of("x"))).isFalse();
      assertThat(register.assignIf(Value.of("a"), Value.of("b"))).isTrue();
      assertThat(register.get()).contains(Value.of("b"));
      register.clear();
      assertThat(register.assignIfAbsent(Value.of("c"))).as("cleared is absent").isTrue();
    }
    assertThat(space.register(prefix + "t", Long.class).assignIfAbsent(1L)).isTrue();
    assertThat(space.register(prefix + "t", Long.class).assignIf(2L, 3L)).isFalse();
    assertThat(space.register(prefix + "t", Long.class).assignIf(1L, 3L)).isTrue();
  }

  @EachWay
  void registers_areAssigned_ifTheyAreAsExpected(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    registers(keyspace, "");
    if (name.equals("bank")) {
      try (Transaction tx = keyspace.begin()) {
        registers(tx, "tx-");
        assertThat(keyspace.register("tx-r").get()).isEmpty();
        tx.commit();
      }
      assertThat(keyspace.register("tx-r").get()).contains(Value.of("c"));
    }
  }

  @EachWay
  void anyQuery_canBeACondition(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    Key set = Key.of("any-set");
    Request.Condition few =
        new Request.Condition(List.of(), new Query.Size(), new Reading.Count(1));
    Operation add = new Operation.Add(Value.of("b"));
    assertThat(keyspace.updateIf(set, CrdtType.AW_SET, add, few)).isFalse();
    assertThat(keyspace.exists("any-set")).isFalse();
    keyspace.set("any-set").add("a");
    assertThat(keyspace.updateIf(set, CrdtType.AW_SET, add, few)).isTrue();
    assertThat(keyspace.updateIf(set, CrdtType.AW_SET, add, few)).isFalse();
    keyspace.boundedCounter("any-b").create(0, 30);
    Key bounded = Key.of("any-b");
    Request.Condition empty =
        new Request.Condition(
            List.of(),
            new Query.Whole(),
            keyspace.read(bounded, Optional.empty(), new Query.Whole()).reading().orElseThrow());
    Operation up = new Operation.IncrementWithin(5, 0);
    assertThat(keyspace.updateIf(bounded, CrdtType.BOUNDED_COUNTER, up, empty)).isTrue();
    assertThat(keyspace.updateIf(bounded, CrdtType.BOUNDED_COUNTER, up, empty)).isFalse();
    assertThat(keyspace.boundedCounter("any-b").get()).isEqualTo(5);
    // What is combined in front of the partition counts.
    keyspace.counter("any-c").increment();
    Request.Condition one =
        new Request.Condition(List.of(), new Query.Whole(), new Reading.Count(1));
    assertThat(
            keyspace.updateIf(
                Key.of("any-c"), CrdtType.PN_COUNTER, new Operation.Increment(1), one))
        .isTrue();
    assertThat(keyspace.counter("any-c").get()).isEqualTo(2);
  }

  /** All expect the same; one of them is the first. */
  @EachWay
  void nothingComesBetween(String how, String name) throws Exception {
    ways.here(how, name).register("cas").assign(0);
    CyclicBarrier together = new CyclicBarrier(THREADS);
    AtomicIntegerArray successes = new AtomicIntegerArray(ROUNDS);
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<Future<?>> all = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        all.add(threads.submit(() -> race(ways.here(how, name), together, successes)));
      }
      for (Future<?> one : all) {
        one.get();
      }
    }
    for (int round = 0; round < ROUNDS; round++) {
      assertThat(successes.get(round)).as("round %s", round).isEqualTo(1);
    }
  }

  private static @Nullable Void race(
      Keyspace keyspace, CyclicBarrier together, AtomicIntegerArray successes) throws Exception {
    RegisterHandle register = keyspace.register("cas");
    for (int round = 0; round < ROUNDS; round++) {
      together.await(LONG.toSeconds(), TimeUnit.SECONDS);
      if (register.assignIf(Value.of(round), Value.of(round + 1))) {
        successes.incrementAndGet(round);
      }
    }
    return null;
  }

  /** As documented: what is expected is what this datacenter sees. */
  @Test
  void elsewhere_itComesAsAnyAssignment() {
    assertThat(ways.here("network", "shop").register("far").assignIfAbsent(Value.of("eu")))
        .isTrue();
    RegisterHandle there = ways.there("network", "shop").register("far");
    await().until(() -> there.get().isPresent());
    assertThat(there.assignIfAbsent(Value.of("us"))).isFalse();
    assertThat(there.assignIf(Value.of("eu"), Value.of("us"))).isTrue();
  }

  @Test
  void whatIsWrong_isNamed_andNothingIsDone() {
    Keyspace shop = ways.here("network", "shop");
    shop.counter("wrong").increment();
    refused(ErrorCode.WRONG_TYPE, () -> shop.register("wrong").assignIfAbsent(Value.of(1)));
    assertThatThrownBy(() -> shop.register("x").assignIf((Value) null, Value.of(1)))
        .hasMessageContaining("what is expected must be given");
    assertThatThrownBy(() -> shop.register("x").assignIfAbsent(null))
        .hasMessageContaining("a value must be given");
    assertThatThrownBy(
            () -> shop.updateIf(Key.of("x"), CrdtType.AW_SET, new Operation.Add(Value.of(1)), null))
        .hasMessageContaining("a condition must be given");
    Request.Condition rights =
        new Request.Condition(List.of(), new Query.Rights(), new Reading.Count(1));
    refused(
        ErrorCode.WRONG_TYPE,
        () -> shop.updateIf(Key.of("x"), CrdtType.AW_SET, new Operation.Add(Value.of(1)), rights));
    assertThat(shop.exists("x")).isFalse();
  }
}
