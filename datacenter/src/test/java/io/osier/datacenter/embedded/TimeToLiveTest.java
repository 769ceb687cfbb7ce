package io.osier.datacenter.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.proxy.Keyspace;
import io.osier.proxy.ObjectSpace;
import io.osier.proxy.Scan;
import io.osier.proxy.Transaction;
import io.osier.testing.Refused;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Deletion and time to live, by network and in the process. */
@NullUnmarked // what is null is refused
final class TimeToLiveTest {
  private static final Duration HOUR = Duration.ofHours(1);

  @AutoClose private static final Ways ways = new Ways();

  @EachWay
  void delete_takesWhateverIsThere_andTellsWhether(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    assertThat(keyspace.delete("d")).as("nothing is there").isFalse();
    keyspace.map("d").counter("f").increment();
    assertThat(keyspace.delete("d")).isTrue();
    assertThat(keyspace.exists("d")).isFalse();
    assertThat(keyspace.delete("d")).as("it is gone").isFalse();
    keyspace.set("d").add("of another type");
    // The set itself: the map that was there before may come first, and a delete takes what it
    // sees.
    await().until(() -> ways.there(how, name).type("d").equals(Optional.of(CrdtType.AW_SET)));
    assertThat(ways.there(how, name).delete("d")).isTrue();
    await().until(() -> !keyspace.exists("d"));
  }

  @EachWay
  void deadline_isSetReplacedAndTakenAway(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    assertThat(keyspace.expireAfter("e", HOUR)).as("nothing is there").isFalse();
    assertThat(keyspace.timeToLive("e")).isEmpty();
    assertThat(keyspace.persist("e")).isFalse();
    keyspace.register("e").assign("x");
    assertThat(keyspace.timeToLive("e")).as("for ever").isEmpty();
    assertThat(keyspace.persist("e")).as("it lives for ever").isFalse();
    assertThat(keyspace.expireAfter("e", HOUR)).isTrue();
    assertThat(keyspace.timeToLive("e").orElseThrow()).isBetween(HOUR.minusMinutes(5), HOUR);
    assertThat(keyspace.expireAt("e", Instant.now().plus(Duration.ofDays(400)))).isTrue();
    assertThat(keyspace.timeToLive("e").orElseThrow())
        .isBetween(Duration.ofDays(399), Duration.ofDays(401));
    await().until(() -> ways.there(how, name).timeToLive("e").isPresent());
    assertThat(keyspace.persist("e")).isTrue();
    assertThat(keyspace.timeToLive("e")).isEmpty();
    assertThat(keyspace.persist("e")).isFalse();
    assertThat(keyspace.register("e").get()).contains(Value.of("x"));
  }

  @EachWay
  void whatHasExpired_isShownNowhere_andItsKeyIsFree(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    for (int i = 0; i < 5; i++) {
      keyspace.set("x" + i).add("old");
      keyspace.counter("y" + i).increment();
    }
    await().until(() -> ways.there(how, name).count(Scan.prefix("y")) == 5);
    keyspace.updateAll(
        List.of(
            Keyspace.Change.expireAfter("x0", Duration.ofMillis(1)),
            Keyspace.Change.expireAfter("x1", Duration.ZERO),
            Keyspace.Change.expireAfter("x2", Duration.ofSeconds(-5)),
            Keyspace.Change.delete("x3"),
            Keyspace.Change.expireAfter("none", HOUR)));
    await().until(() -> keyspace.count(Scan.prefix("x")) == 1);
    await().until(() -> ways.there(how, name).count(Scan.prefix("x")) == 1);
    assertThat(keyspace.scan(Scan.prefix("x")).map(r -> r.key())).containsExactly(Key.of("x4"));
    assertThat(keyspace.exists("x0")).isFalse();
    assertThat(keyspace.type("x0")).isEmpty();
    assertThat(keyspace.set("x0").get()).isEmpty();
    assertThat(keyspace.getAll(List.of("x0", "x4")).get("x0").exists()).isFalse();
    assertThat(keyspace.delete("x1")).as("it does not exist any more").isFalse();
    assertThat(keyspace.expireAfter("x2", HOUR)).isFalse();
    keyspace.register("x0").assign("new");
    keyspace.set("x2").add("new");
    assertThat(keyspace.set("x2").get()).containsExactly(Value.of("new"));
    assertThat(keyspace.timeToLive("x2")).isEmpty();
    assertThat(keyspace.expireAt("y0", Instant.MIN)).isTrue();
    assertThat(keyspace.exists("y0")).isFalse();
    keyspace.counter("y0").increment();
    assertThat(keyspace.counter("y0").get()).isEqualTo(1);
    await()
        .until(() -> ways.there(how, name).type("x0").equals(Optional.of(CrdtType.LWW_REGISTER)));
  }

  @BothWays
  void inATransaction_itIsDoneWithTheCommit(String how) {
    Keyspace bank = ways.here(how, "bank");
    for (String key : List.of("t1", "t2", "t3")) {
      bank.set(key).add("a");
    }
    bank.expireAfter("t3", HOUR);
    try (Transaction transaction = bank.begin()) {
      assertThat(transaction.delete("t1")).isTrue();
      assertThat(transaction.delete("t1")).isFalse();
      assertThat(transaction.expireAfter("t2", HOUR)).isTrue();
      assertThat(transaction.persist("t3")).isTrue();
      assertThat(transaction.exists("t1")).isFalse();
      assertThat(transaction.timeToLive("t2")).isPresent();
      assertThat(transaction.timeToLive("t3")).isEmpty();
      assertThat(transaction.count(Scan.prefix("t"))).isEqualTo(2);
      assertThat(bank.exists("t1")).isTrue();
      assertThat(bank.timeToLive("t2")).isEmpty();
      transaction.commit();
    }
    assertThat(bank.exists("t1")).isFalse();
    assertThat(bank.timeToLive("t2")).isPresent();
    assertThat(bank.timeToLive("t3")).isEmpty();
  }

  @EachWay
  void updateWithATimeToLive_isOne(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    ObjectSpace sessions = keyspace.expiring(HOUR);
    assertThat(sessions.register("w:lock").assignIfAbsent(Value.of("ada"))).isTrue();
    assertThat(sessions.register("w:lock").assignIfAbsent(Value.of("bob"))).isFalse();
    assertThat(sessions.counter("w:rate").incrementAndGet(2)).isEqualTo(2);
    sessions.map("w:map").set("f").add("x");
    sessions.set("w:typed", String.class).add("x");
    keyspace.updateAll(
        List.of(
            new Keyspace.Change("w:batch", CrdtType.EW_FLAG, new Operation.SetFlag(true))
                .expiring(HOUR)));
    for (String key : List.of("w:lock", "w:rate", "w:map", "w:typed", "w:batch")) {
      assertThat(keyspace.timeToLive(key).orElseThrow()).isBetween(HOUR.minusMinutes(5), HOUR);
      Keyspace there = ways.there(how, name);
      await().until(() -> there.exists(key));
      assertThat(there.timeToLive(key)).as("it comes with the value").isPresent();
    }
    keyspace.expiring(HOUR.multipliedBy(3)).counter("w:rate").increment();
    assertThat(keyspace.timeToLive("w:rate").orElseThrow()).as("anew").isGreaterThan(HOUR);
    keyspace.counter("w:rate").increment();
    assertThat(keyspace.timeToLive("w:rate").orElseThrow()).as("as before").isGreaterThan(HOUR);
    assertThat(keyspace.counter("w:rate").get()).isEqualTo(4);
    sessions.set("w:typed").remove("x");
    sessions.set("w:typed").remove("never there");
    assertThat(keyspace.timeToLive("w:typed")).as("nothing is left").isEmpty();
    assertThat(keyspace.exists("w:typed")).isFalse();
    keyspace.expiring(Duration.ofMillis(-1)).register("w:lock").assign("over");
    assertThat(keyspace.exists("w:lock")).isFalse();
    assertThat(sessions.register("w:lock").assignIfAbsent(Value.of("bob"))).isTrue();
    assertThat(sessions.delete("w:lock")).isTrue();
    refused(
        () -> sessions.boundedCounter("w:bounded").create(0, 5),
        ErrorCode.INVALID_ARGUMENT,
        "does not expire");
    assertThat(keyspace.exists("w:bounded")).isFalse();
  }

  @BothWays
  void updateWithATimeToLive_inATransaction_isDoneWithTheCommit(String how) {
    Keyspace bank = ways.here(how, "bank");
    bank.set("wt:1").add("a");
    try (Transaction transaction = bank.begin()) {
      ObjectSpace lasting = transaction.expiring(HOUR);
      lasting.set("wt:1").add("b");
      lasting.counter("wt:2").increment(3);
      lasting.counter("wt:2").increment(4);
      assertThat(transaction.timeToLive("wt:2")).isPresent();
      bank.set("wt:1").add("meanwhile");
      transaction.commit();
    }
    assertThat(bank.set("wt:1").get()).hasSize(3);
    assertThat(bank.timeToLive("wt:1").orElseThrow()).isGreaterThan(HOUR.minusMinutes(5));
    assertThat(bank.counter("wt:2").get()).isEqualTo(7);
    assertThat(bank.timeToLive("wt:2")).isPresent();
  }

  private static void refused(Runnable call, ErrorCode code, String message) {
    assertThatThrownBy(call::run).is(Refused.with(code)).hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource({"network, shop", "embedded, bank"})
  void whatMakesNoSense_isRefused(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    keyspace.set("s").add("a");
    keyspace.boundedCounter("b").create(0, 5);
    ErrorCode invalid = ErrorCode.INVALID_ARGUMENT;
    refused(() -> keyspace.delete("b"), invalid, "bounded counter");
    refused(() -> keyspace.expireAfter("b", HOUR), invalid, "bounded counter");
    Duration longest = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
    refused(() -> keyspace.expireAfter("s", longest), invalid, "10000");
    refused(() -> keyspace.expiring(longest), invalid, "10000");
    refused(() -> keyspace.expiring(null), invalid, "a time to live");
    refused(
        () ->
            keyspace.update(
                Key.of("s"),
                CrdtType.AW_SET,
                new Operation.WithDeadline(
                    new Operation.Delete(), new Operation.Expire(1_000, true))),
        invalid,
        "does not delete the key");
    refused(() -> keyspace.expireAfter("s", Duration.ofMillis(Long.MAX_VALUE)), invalid, "10000");
    refused(() -> keyspace.expireAt("s", Instant.MAX), invalid, "10000");
    refused(() -> keyspace.expireAfter("s", null), invalid, "a time to live");
    refused(() -> keyspace.expireAt("s", null), invalid, "a deadline");
    refused(() -> keyspace.delete(""), invalid, "");
    refused(() -> keyspace.timeToLive(null), invalid, "");
    assertThat(keyspace.timeToLive("s")).isEmpty();
    assertThat(keyspace.expireAfter("s", Duration.ofSeconds(Long.MIN_VALUE))).isTrue();
    assertThat(keyspace.exists("s")).isFalse();
    ObjectSpace space = keyspace;
    assertThat(space.deleteAsync(null)).isCompletedExceptionally();
  }
}
