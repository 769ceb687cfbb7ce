package io.osier.datacenter.embedded;

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
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.MapHandle;
import io.osier.proxy.SetHandle;
import io.osier.proxy.Transaction;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What updates tell of their objects, by network and in the process, in both kinds of keyspace. */
@NullUnmarked // what is null is refused
final class AnswersTest {
  private static final int THREADS = 6;
  private static final int EACH = 200;

  @AutoClose private static final Ways ways = new Ways();

  private static List<Value> values(String... texts) {
    return List.of(texts).stream().map(Value::of).toList();
  }

  @EachWay
  void everyType_tellsWhatItMadeOrReplaced(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    keyspace.counter("c").increment();
    assertThat(keyspace.counter("c").incrementAndGet(4)).isEqualTo(5);
    keyspace.boundedCounter("b").create(0, 100);
    assertThat(keyspace.boundedCounter("b").incrementAndGet(7)).isEqualTo(7);
    assertThat(keyspace.boundedCounter("b").decrementAndGet(3)).isEqualTo(4);
    assertThat(keyspace.register("r").getAndAssign("one")).isEmpty();
    assertThat(keyspace.register("r").getAndAssign(2)).contains(Value.of("one"));
    assertThat(keyspace.register("r").get()).contains(Value.of(2));
    assertThat(keyspace.multiRegister("m").getAndAssign(Value.of(1))).isEmpty();
    assertThat(keyspace.multiRegister("m").getAndAssign(Value.of(2))).containsExactly(Value.of(1));
    assertThat(keyspace.flag("f").getAndSet(true)).isFalse();
    assertThat(keyspace.flag("f").getAndSet(false)).isTrue();
    for (SetHandle set :
        List.of(
            keyspace.set("s1"),
            keyspace.removeWinsSet("s2"),
            keyspace.lastWriterWinsSet("s3"),
            keyspace.lastWriterWinsSetRemoveBias("s4"),
            keyspace.map("inner").set("s5"))) {
      assertThat(set.addNew("b", "a", "b")).isEqualTo(values("a", "b"));
      assertThat(set.addNew("c", "b")).isEqualTo(values("c"));
      assertThat(set.among(values("x", "c", "a", "c"))).isEqualTo(values("a", "c"));
      assertThat(set.removePresent("x", "c", "a")).isEqualTo(values("a", "c"));
      assertThat(set.get()).isEqualTo(values("b"));
    }
    assertThat(keyspace.growOnlySet("g").addNew("a")).isEqualTo(values("a"));
    MapHandle map = keyspace.map("map").map("deep");
    assertThat(map.counter("n").incrementAndGet(2)).isEqualTo(2);
    assertThat(map.counter("n").incrementAndGet(2)).isEqualTo(4);
    assertThat(map.register("r").getAndAssign("x")).isEmpty();
    assertThat(map.register("r").getAndAssign("y")).contains(Value.of("x"));
  }

  /** Nothing comes between an update and its answer, so no two have made the same value. */
  @EachWay
  void noTwoAnswersAreTheSame(String how, String name) throws InterruptedException {
    Set<Long> made = ConcurrentHashMap.newKeySet();
    List<Throwable> wrong = Collections.synchronizedList(new ArrayList<>());
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < THREADS; t++) {
      Keyspace keyspace = ways.here(how, name);
      threads.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      long last = 0;
                      for (int i = 0; i < EACH; i++) {
                        keyspace.counter("ids").increment(0); // acknowledged where it may be
                        long id = keyspace.counter("ids").incrementAndGet(1);
                        assertThat(id).isGreaterThan(last);
                        last = id;
                        made.add(id);
                      }
                    } catch (RuntimeException | AssertionError e) {
                      wrong.add(e);
                    }
                  }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(wrong).isEmpty();
    assertThat(made)
        .containsExactlyInAnyOrderElementsOf(
            IntStream.rangeClosed(1, THREADS * EACH).mapToObj(i -> (long) i).toList());
  }

  /** What an answer shows of another datacenter's updates the session has seen. */
  @ParameterizedTest
  @CsvSource({"shop", "bank"})
  void whatIsShown_isSeen(String name) {
    ways.there("network", name).counter("seen").increment(10);
    await().until(() -> ways.here("network", name).counter("seen").get() == 10);
    Keyspace here = ways.here("network", name);
    assertThat(here.counter("seen").incrementAndGet(1)).isEqualTo(11);
    assertThat(here.token().toString()).contains("us/");
  }

  @BothWays
  void inATransaction_itIsWhatTheTransactionSees(String how) {
    Keyspace bank = ways.here(how, "bank");
    bank.counter("t").increment(5);
    try (Transaction transaction = bank.begin()) {
      assertThat(transaction.counter("t").incrementAndGet(1)).isEqualTo(6);
      assertThat(transaction.register("tr").getAndAssign("x")).isEmpty();
      assertThat(transaction.register("tr").getAndAssign("y")).contains(Value.of("x"));
      assertThat(transaction.set("ts").addNew("a")).isEqualTo(values("a"));
      assertThat(bank.counter("t").get()).as("elsewhere").isEqualTo(5);
      transaction.commit();
    }
    assertThat(bank.counter("t").get()).isEqualTo(6);
  }

  @ParameterizedTest
  @CsvSource({"network, shop", "embedded, shop", "embedded, bank"})
  void whatCannotBeAsked_isRefused_andNothingIsDone(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    Key key = Key.of("refused");
    Request.Ask ofASet = new Request.Ask(false, new Query.Among(values("a")));
    refused(
        ErrorCode.WRONG_TYPE,
        () -> keyspace.update(key, CrdtType.PN_COUNTER, new Operation.Increment(1), ofASet));
    assertThat(keyspace.read(key, Optional.empty(), new Query.Whole()).exists()).isFalse();
    CompletableFuture<?> nothing =
        keyspace.updateAsync(key, CrdtType.PN_COUNTER, new Operation.Increment(1), null);
    assertThat(nothing).isCompletedExceptionally();
    assertThatThrownBy(() -> keyspace.set("s").addNew(java.util.Arrays.asList(Value.of("a"), null)))
        .isInstanceOf(RuntimeException.class);
  }
}
