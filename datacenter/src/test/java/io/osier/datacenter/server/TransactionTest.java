package io.osier.datacenter.server;

import static io.osier.testing.Refused.refused;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.crdt.types.BoundedCounter;
import io.osier.proxy.BoundedCounterHandle;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Keyspace.Change;
import io.osier.proxy.Keyspace.Get;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Transaction;
import io.osier.proxy.TransactionOptions;
import io.osier.testing.Patience;
import io.osier.testing.Refused;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Transactions of causal keyspaces, from the client library to three real datacenters. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class TransactionTest {
  @AutoClose
  private final TestCluster cluster =
      new TestCluster(
          "bank { consistency = causal, sla = 300ms, history = 10m }, shop { sla = 300ms },"
              + " brief { consistency = causal, sla = 100ms, history = 200ms }",
          new String[] {"eu", "us", "ap"});

  private final OsierClient eu = cluster.client("eu");
  private final OsierClient us = cluster.client("us");

  private static Keyspace bank(OsierClient client) {
    return client.session().keyspace("bank");
  }

  @Test
  void reads_areRepeatable_andShowOwnUpdates() {
    Keyspace other = bank(eu);
    other.register("r1").assign("old");
    try (Transaction tx = bank(eu).begin()) {
      assertThat(tx.register("r1").get()).contains(Value.of("old"));
      other.register("r1").assign("new");
      other.counter("r1-c").increment(7);
      assertThat(tx.register("r1").get()).contains(Value.of("old"));
      assertThat(tx.counter("r1-c").get()).isZero();
      tx.counter("r1-c").increment(2);
      tx.map("r1-m").set("tags").add("a", "b");
      assertThat(tx.counter("r1-c").get()).isEqualTo(2);
      assertThat(tx.map("r1-m").set("tags").size()).isEqualTo(2);
      assertThat(other.counter("r1-c").get()).isEqualTo(7);
      assertThat(other.map("r1-m").get()).isEmpty();
      tx.commit();
    }
    assertThat(other.counter("r1-c").get()).isEqualTo(9);
    assertThat(other.map("r1-m").set("tags").size()).isEqualTo(2);
  }

  @Test
  void removal_takesWhatTheSnapshotShowed_andSparesWhatCameSince() {
    Keyspace k = bank(eu);
    k.set("rm").add("a", "b");
    k.flag("rm-f").set(true);
    k.multiRegister("rm-v").assign(Value.of(1));
    k.map("rm-m").counter("n").increment(5);
    Transaction tx = k.begin();
    tx.set("rm").remove("a", "b");
    tx.flag("rm-f").set(false);
    tx.multiRegister("rm-v").assign(Value.of(2));
    tx.map("rm-m").counter("n").increment(1);
    tx.map("rm-m").register("x").assign("tx");
    k.set("rm").add("b");
    k.flag("rm-f").set(true);
    k.multiRegister("rm-v").assign(Value.of(3));
    k.map("rm-m").counter("n").increment(10);
    tx.commit();
    assertThat(k.set("rm").get()).containsExactly(Value.of("b"));
    assertThat(k.flag("rm-f").get()).isTrue();
    assertThat(k.multiRegister("rm-v").get()).containsExactly(Value.of(2), Value.of(3));
    assertThat(k.map("rm-m").counter("n").get()).isEqualTo(16);
    // And it converges to the same elsewhere.
    Keyspace there = bank(us);
    await().untilAsserted(() -> assertThat(there.map("rm-m").counter("n").get()).isEqualTo(16));
    assertThat(there.set("rm").get()).containsExactly(Value.of("b"));
    assertThat(there.multiRegister("rm-v").get()).containsExactly(Value.of(2), Value.of(3));
  }

  @Test
  void updatesTogether_areSeenTogetherEverywhere() {
    Keyspace here = bank(eu);
    Keyspace there = bank(us);
    for (int i = 1; i <= 100; i++) {
      here.updateTogether(
          List.of(
              new Change("t-a", CrdtType.PN_COUNTER, new Operation.Increment(1)),
              new Change("t-b", CrdtType.PN_COUNTER, new Operation.Increment(-1)),
              new Change("t-c", CrdtType.G_COUNTER, new Operation.Increment(1))));
      long sum = 0;
      List<Keyspace.Found> found =
          there.readTogether(
              List.of(new Get("t-a", CrdtType.PN_COUNTER), new Get("t-b", CrdtType.PN_COUNTER)));
      for (Keyspace.Found f : found) {
        sum += ((Reading.Count) f.reading().orElseThrow()).value();
      }
      assertThat(sum).isZero();
    }
  }

  @Test
  void clock_carriesWhatWasSeen_toAnotherDatacenter() {
    Keyspace here = bank(eu);
    Transaction tx = here.begin();
    tx.register("clock").assign("here");
    VersionVector clock = tx.commit();
    assertThat(here.clock()).isEqualTo(clock);
    try (Transaction there = bank(us).begin(TransactionOptions.DEFAULT.atLeast(clock))) {
      assertThat(there.datacenter()).isEqualTo("us");
      assertThat(clock.isAtMost(there.clock())).isTrue();
      assertThat(there.register("clock").get()).contains(Value.of("here"));
    }
  }

  @Test
  void past_isReadExactly_asFarAsItIsKept() {
    Keyspace k = bank(eu);
    k.register("past").assign("one");
    VersionVector one = k.clock();
    k.register("past").assign("two");
    VersionVector two = k.clock();
    k.register("past").assign("three");
    k.counter("past-c").increment(1);
    try (Transaction tx = k.begin(TransactionOptions.DEFAULT.at(one))) {
      assertThat(tx.register("past").get()).contains(Value.of("one"));
      assertThat(tx.counter("past-c").get()).isZero();
      tx.counter("past-c").increment(1);
      refused(ErrorCode.INVALID_ARGUMENT, tx::commit);
    }
    try (Transaction tx = k.begin(TransactionOptions.DEFAULT.at(two))) {
      assertThat(tx.register("past").get()).contains(Value.of("two"));
    }
    Keyspace brief = eu.session().keyspace("brief");
    brief.register("past").assign("one");
    VersionVector then = brief.clock();
    brief.register("past").assign("two");
    await().until(() -> isForgotten(brief, then));
  }

  private static boolean isForgotten(Keyspace k, VersionVector clock) {
    try (Transaction tx = k.begin(TransactionOptions.DEFAULT.at(clock))) {
      return false;
    } catch (OsierException e) {
      assertThat(e.code()).isEqualTo(ErrorCode.SNAPSHOT_TOO_OLD);
      return true;
    }
  }

  @Test
  void openSnapshot_outlivesTheHistory() {
    Keyspace brief = eu.session().keyspace("brief");
    brief.register("held").assign("one");
    try (Transaction tx = brief.begin()) {
      brief.register("held").assign("two");
      VersionVector two = brief.clock();
      await()
          .until(
              () -> {
                brief.register("held").assign("later");
                return isForgotten(brief, two);
              });
      assertThat(tx.register("held").get()).contains(Value.of("one"));
    }
  }

  @Test
  void endedTransaction_isRefused_withWhatHappened() {
    Keyspace k = bank(eu);
    Transaction done = k.begin();
    done.counter("ended").increment(1);
    done.commit();
    refused(ErrorCode.TRANSACTION_ENDED, () -> done.counter("ended").get());
    assertThat(catchThrowable(done::commit)).hasMessageContaining("committed");
    done.abort(); // does nothing
    Transaction aborted = k.begin();
    aborted.counter("ended").increment(100);
    aborted.counter("ended").get();
    aborted.abort();
    refused(ErrorCode.TRANSACTION_ENDED, () -> aborted.counter("ended").increment(1));
    Transaction slow = k.begin(TransactionOptions.DEFAULT.limit(Duration.ofMillis(50)));
    var unused = catchThrowable(() -> slow.counter("ended").increment(100)); // or it is late
    AtomicReference<Throwable> late = new AtomicReference<>();
    await().until(() -> late.updateAndGet(e -> catchThrowable(slow.counter("ended")::get)) != null);
    assertThat(late.get())
        .is(Refused.with(ErrorCode.TRANSACTION_ENDED))
        .hasMessageContaining("time limit of 50 ms");
    refused(ErrorCode.TRANSACTION_ENDED, slow::commit);
    assertThat(k.counter("ended").get()).isEqualTo(1);
  }

  @Test
  void failedStep_doesNothing_andTheTransactionGoesOn() {
    Keyspace k = bank(eu);
    k.set("step").add("x");
    Transaction tx = k.begin();
    tx.counter("step-c").increment(1);
    assertThat(tx.counter("step-c").get()).isEqualTo(1);
    tx.counter("step-c").increment(1);
    tx.counter("step").increment(1); // it is a set
    refused(ErrorCode.WRONG_TYPE, tx::commit);
    assertThat(tx.counter("step-c").get()).isEqualTo(1);
    tx.counter("step-c").increment(5);
    tx.commit();
    assertThat(k.counter("step-c").get()).isEqualTo(6);
  }

  @Test
  void sessionKeyspace_refusesTransactions() {
    Keyspace shop = eu.session().keyspace("shop");
    Throwable refused = catchThrowable(shop::begin);
    assertThat(refused).hasMessageContaining("consistency = causal");
    refused(
        ErrorCode.INVALID_ARGUMENT,
        () -> shop.readTogether(List.of(new Get("a", CrdtType.AW_SET))));
  }

  @Test
  void boundedCounter_inAndOutOfTransactions() {
    Keyspace here = bank(eu);
    BoundedCounterHandle stock = here.boundedCounter("stock");
    refused(ErrorCode.INVALID_ARGUMENT, () -> stock.increment(1));
    stock.create(0, 50);
    stock.increment(10);
    assertThat(stock.get()).isEqualTo(10);
    assertThat(requireNonNull(stock.rights().shares().get("eu")).down()).isEqualTo(10);
    refused(ErrorCode.NOT_ENOUGH_RIGHTS, () -> stock.decrement(11));
    stock.transfer("us", 4);
    // What a transaction has set aside nobody else can take.
    Transaction tx = here.begin();
    tx.boundedCounter("stock").decrement(5);
    assertThat(tx.boundedCounter("stock").get()).isEqualTo(5);
    refused(ErrorCode.NOT_ENOUGH_RIGHTS, () -> stock.decrement(2));
    tx.abort();
    stock.decrement(2);
    // At the other datacenter, with rights that were given and rights that must be fetched.
    Keyspace there = bank(us);
    there.begin(TransactionOptions.DEFAULT.atLeast(here.clock())).abort();
    there.boundedCounter("stock").decrement(7, Patience.LIMIT);
    assertThat(there.boundedCounter("stock").get()).isEqualTo(1);
    await() // on a slow machine there may be no answer in its time
        .untilAsserted(
            () ->
                assertThatThrownBy(
                        () -> there.boundedCounter("stock").decrement(2, Duration.ofMillis(600)))
                    .hasMessageContaining("are needed"));
    // A transfer between accounts: both or neither.
    here.boundedCounter("from").create(0, BoundedCounter.NO_UPPER);
    here.boundedCounter("to").create(0, BoundedCounter.NO_UPPER);
    here.boundedCounter("from").increment(5);
    refused(
        ErrorCode.NOT_ENOUGH_RIGHTS,
        () ->
            here.updateTogether(
                List.of(
                    new Change("to", CrdtType.BOUNDED_COUNTER, new Operation.Increment(6)),
                    new Change("from", CrdtType.BOUNDED_COUNTER, new Operation.Increment(-6)))));
    assertThat(here.boundedCounter("to").get()).isZero();
  }
}
