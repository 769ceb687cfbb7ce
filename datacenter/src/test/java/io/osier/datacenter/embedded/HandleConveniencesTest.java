package io.osier.datacenter.embedded;

import static io.osier.testing.Refused.refused;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.InvalidRequestException;
import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.crdt.Reading;
import io.osier.proxy.Batch;
import io.osier.proxy.BatchException;
import io.osier.proxy.BoundedCounterHandle;
import io.osier.proxy.Changes;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Watch;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AutoClose;

/**
 * Batches written with handles, readings without casts, changes with values, and counters with a
 * first value, by network and in the process.
 */
final class HandleConveniencesTest {
  private static final String KEYSPACES =
      "shop { sla = 400ms, partitions = 3 }, bank { sla = 400ms, consistency = causal }";

  @AutoClose private static final Ways ways = new Ways(KEYSPACES);

  @EachWay
  void batchOfHandles_isDone(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    keyspace.register("b-gone").assign("x");
    keyspace.updateAll(
        batch -> {
          batch.counter("b-likes").increment();
          batch.counter("b-likes").increment(4);
          batch.set("b-cart").add("book", "pen");
          batch.map("b-user").register("city").assign("York");
          batch.expiring(Duration.ofHours(1)).register("b-session").assign("ada");
          batch.remove("b-gone");
        });
    assertThat(keyspace.counter("b-likes").get()).isEqualTo(5);
    assertThat(keyspace.set("b-cart").size()).isEqualTo(2);
    assertThat(keyspace.map("b-user").register("city").get()).contains(Value.of("York"));
    assertThat(keyspace.timeToLive("b-session")).isPresent();
    assertThat(keyspace.exists("b-gone")).isFalse();
    BatchException failed =
        catchThrowableOfType(
            BatchException.class,
            () ->
                keyspace.updateAll(
                    batch -> {
                      batch.counter("b-likes").increment();
                      batch.counter("b-cart").increment();
                    }));
    assertThat(failed.errors().keySet()).containsExactly(1);
    assertThat(failed.errors().get(1)).isExactlyInstanceOf(InvalidRequestException.class);
  }

  @BothWays
  void batchOfHandles_inATransaction_isAllOrNothing(String how) {
    Keyspace bank = ways.here(how, "bank");
    bank.updateTogether(
        batch -> {
          batch.counter("t-one").increment();
          batch.counter("t-two").increment();
        });
    assertThat(bank.counter("t-two").get()).isEqualTo(1);
    bank.set("t-set").add("x");
    refused(
        ErrorCode.WRONG_TYPE,
        () ->
            bank.updateTogether(
                batch -> {
                  batch.counter("t-one").increment();
                  batch.counter("t-set").increment();
                }));
    assertThat(bank.counter("t-one").get()).isEqualTo(1);
  }

  @BothWays
  void whatIsNoneOfABatch_isRefused_andNothingIsSent(String how) {
    Keyspace shop = ways.here(how, "shop");
    AtomicReference<Batch> kept = new AtomicReference<>();
    assertThatThrownBy(
            () ->
                shop.updateAll(
                    batch -> {
                      kept.set(batch);
                      batch.counter("n-one").increment();
                      batch.counter("n-one").get();
                    }))
        .isExactlyInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("a batch has updates without an answer");
    assertThat(shop.exists("n-one")).isFalse();
    assertThatThrownBy(() -> requireNonNull(kept.get()).counter("n-one").increment())
        .isExactlyInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("takes no more updates");
  }

  @EachWay
  void maps_areReadWithoutCasts(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    keyspace.map("m").counter("yes").increment(3);
    keyspace.map("m").counter("no").increment(-1);
    keyspace.map("m").register("city").assign("York");
    keyspace.map("m").set("tags").add("new");
    keyspace.map("m").flag("seen").set(true);
    keyspace.map("m").map("address").register("street").assign("Main Street 1");
    Map<String, Long> counters = keyspace.map("m").counters();
    assertThat(counters).containsExactly(Map.entry("no", -1L), Map.entry("yes", 3L));
    Reading.Fields m = keyspace.map("m").read();
    assertThat(m.field("yes").map(Reading::asLong)).contains(3L);
    assertThat(m.field("city").flatMap(Reading::asValue)).contains(Value.of("York"));
    assertThat(m.field("tags").orElseThrow().asList()).containsExactly(Value.of("new"));
    assertThat(m.field("seen").orElseThrow().asBoolean()).isTrue();
    assertThat(
            m.field("address").orElseThrow().asFields().field("street").flatMap(Reading::asValue))
        .contains(Value.of("Main Street 1"));
    assertThat(m.field("none")).isEmpty();
    refused(ErrorCode.WRONG_TYPE, () -> m.field("city").orElseThrow().asLong())
        .hasMessageContaining("of a last-writer-wins register, not of a counter");
    assertThat(keyspace.map("m-none").counters()).isEmpty();
  }

  @EachWay
  void changes_bringTheValueAlong(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    Map<Key, Changes.Change> told = new ConcurrentHashMap<>();
    try (Watch.Watching watching =
        keyspace
            .watchPrefix("w-")
            .withValues()
            .listen(changes -> changes.changes().forEach(c -> told.put(c.key(), c)))) {
      watching.begun().join();
      keyspace.counter("w-likes").increment(7);
      keyspace.register("w-gone").assign("x");
      await().until(() -> told.containsKey(Key.of("w-gone")));
      keyspace.delete("w-gone");
      await()
          .untilAsserted(
              () -> {
                assertThat(
                        requireNonNull(told.get(Key.of("w-likes")))
                            .found()
                            .flatMap(Keyspace.Found::reading))
                    .contains(new Reading.Count(7));
                assertThat(
                        requireNonNull(told.get(Key.of("w-gone")))
                            .found()
                            .map(Keyspace.Found::exists))
                    .contains(false);
              });
    }
  }

  @BothWays
  void valuesOfChanges_haveABudget(String how) {
    Keyspace shop = ways.here(how, "shop");
    shop.updateAll(
        batch -> {
          for (int i = 0; i < 200; i++) {
            batch.register("v-" + i).assign("0123456789".repeat(100));
          }
        });
    Map<Key, Optional<Keyspace.Found>> told = new ConcurrentHashMap<>();
    try (Watch.Watching watching =
        shop.watchPrefix("v-")
            .withValues(1)
            .fromTheBeginning()
            .listen(changes -> changes.changes().forEach(c -> told.put(c.key(), c.found())))) {
      await().until(() -> told.size() == 200);
      assertThat(watching.ended()).isNotDone();
    }
    long with = told.values().stream().filter(Optional::isPresent).count();
    assertThat(with)
        .as("some keys at a time are read until the budget is spent")
        .isBetween(1L, 199L);
    refused(ErrorCode.INVALID_ARGUMENT, () -> shop.watch("v-1").withValues(0));
  }

  @EachWay
  void counterWithAFirstValue_thatTwoDatacentersCreate_hasItOnce(String how, String name) {
    BoundedCounterHandle here = ways.here(how, name).boundedCounter("f-stock");
    BoundedCounterHandle there = ways.there(how, name).boundedCounter("f-stock");
    List.of(here.createAsync(0, 100, 20), there.createAsync(0, 100, 20))
        .forEach(created -> created.join());
    here.decrement(4, Duration.ofMinutes(1));
    here.create(0, 100, 20); // as a program does that starts again
    there.decrement(6, Duration.ofMinutes(1));
    await().until(() -> here.get() == 10 && there.get() == 10);
    refused(ErrorCode.NOT_ENOUGH_RIGHTS, () -> here.decrement(11, Duration.ofMillis(1)));
    assertThat(here.rights().upper()).isEqualTo(100);
    assertThatThrownBy(() -> ways.here(how, name).boundedCounter("f-none").create(0, 5, 6))
        .isExactlyInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("starts at 6");
  }
}
