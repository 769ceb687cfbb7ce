package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.adaptation.AdaptationSettings;
import io.osier.core.Budget;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.datacenter.store.MemoryStore;
import io.osier.propagation.host.Recovered;
import io.osier.propagation.host.StreamSettings;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a causal partition keeps in the heap, with budgets of a few values: each holds. */
final class CausalBudgetTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final long LARGE = Long.MAX_VALUE / 2;
  private static final int VALUE_BYTES = 10_000;

  @SuppressWarnings("NullAway.Init") // each test starts it first
  private Partition partition;

  private long nanos = 1;
  private long tickets;

  private void start(PartitionConfig.Memory memory) {
    partition =
        new Partition(
            new PartitionConfig(
                    SELF,
                    List.of(),
                    KeyspacePolicy.causal("k", Duration.ofSeconds(1)),
                    0,
                    StreamSettings.DEFAULT,
                    AdaptationSettings.DEFAULT)
                .within(memory),
            new MemoryStore(),
            Recovered.NOTHING,
            new Now(nanos, 1));
  }

  private Effects step(Input input) {
    nanos += 1_000;
    return partition.step(input, new Now(nanos, 1 + nanos / 1_000_000));
  }

  private Reply ask(Request request) {
    @Nullable Reply reply = null;
    for (Effects.Output output : step(new Input.Command(++tickets, request)).whenDurable()) {
      reply = output instanceof Effects.ToClient a ? a.reply() : reply;
    }
    if (partition.nextTickNanos() <= nanos) {
      step(new Input.Tick());
    }
    return requireNonNull(reply, "an answer");
  }

  private Reply write(String key, String value) {
    return ask(
        new Request.Write(
            "k",
            Key.of(key),
            CrdtType.LWW_REGISTER,
            new Operation.Assign(Value.of(value)),
            VersionVector.EMPTY,
            0));
  }

  private Reply transact(
      long id, int step, Request.End end, List<Request.Update> updates, String... reads) {
    return ask(
        new Request.Transact(
            "k",
            new TransactionId(0, id),
            step,
            step == 1
                ? Optional.of(new Request.Begin(VersionVector.EMPTY, false, 0, 60_000))
                : Optional.empty(),
            updates,
            List.of(reads).stream()
                .map(r -> new Request.Fetch(Key.of(r), Optional.empty(), new Query.Whole()))
                .toList(),
            end));
  }

  private static Request.Update assign(String key) {
    return new Request.Update(
        Key.of(key),
        CrdtType.LWW_REGISTER,
        new Operation.Assign(Value.of("v".repeat(VALUE_BYTES))));
  }

  private Budget.Usage usage(String name) {
    PartitionReport report = step(new Input.Inspect(++tickets, 0)).atOnce().getFirst().report();
    return report.memory().stream().filter(u -> u.name().equals(name)).findFirst().orElseThrow();
  }

  private static @Nullable ErrorCode code(Reply reply) {
    return reply instanceof Reply.Failure f ? f.code() : null;
  }

  @Test
  void formerValues_goBeforeTheirTime() {
    start(new PartitionConfig.Memory(10 * VALUE_BYTES, LARGE, LARGE));
    for (int i = 0; i < 1_000; i++) {
      write("x", "v".repeat(VALUE_BYTES) + i);
      assertThat(usage("history").used()).isLessThanOrEqualTo(10 * VALUE_BYTES);
    }
    assertThat(usage("history").used()).isGreaterThan(8 * VALUE_BYTES);
    assertThat(usage("history").spent()).isGreaterThan(900);
    Reply old =
        ask(
            new Request.Transact(
                "k",
                new TransactionId(0, 1),
                1,
                Optional.of(new Request.Begin(VersionVector.of(SELF, 1), true, 0, 1_000)),
                List.of(),
                List.of(),
                Request.End.COMMIT));
    assertThat(code(old)).isEqualTo(ErrorCode.SNAPSHOT_TOO_OLD);
    assertThat(((Reply.Failure) old).message()).contains("osier.memory.history");
  }

  /** A snapshot that is held open is not a way to fill the heap. */
  @Test
  void whereAnOpenSnapshotNeedsTooMuch_itsTransactionIsAborted() {
    start(new PartitionConfig.Memory(10 * VALUE_BYTES, LARGE, LARGE));
    for (int i = 0; i < 100; i++) {
      write("x" + i, "v".repeat(VALUE_BYTES));
    }
    transact(1, 1, Request.End.OPEN, List.of(), "x0");
    for (int i = 0; i < 100; i++) {
      write("x" + i, "w".repeat(VALUE_BYTES));
      assertThat(usage("history").used()).isLessThanOrEqualTo(12 * VALUE_BYTES);
    }
    Reply next = transact(1, 2, Request.End.OPEN, List.of(), "x50");
    assertThat(code(next)).isEqualTo(ErrorCode.TRANSACTION_ENDED);
    assertThat(((Reply.Failure) next).message()).contains("osier.memory.history");
  }

  @Test
  void updatesOfOpenTransactions_areRefused_andOthersGoOn() {
    start(new PartitionConfig.Memory(LARGE, 50 * VALUE_BYTES, LARGE));
    int refused = 0;
    for (int i = 1; i <= 100; i++) {
      Reply reply = transact(i, 1, Request.End.OPEN, List.of(assign("x" + i)));
      if (code(reply) == ErrorCode.OVERLOADED) {
        refused++;
        assertThat(((Reply.Failure) reply).message()).contains("osier.memory.transactions");
      }
      assertThat(usage("transactions").used()).isLessThanOrEqualTo(51 * VALUE_BYTES);
    }
    assertThat(refused).isBetween(70, 80);
    assertThat(transact(200, 1, Request.End.COMMIT, List.of(assign("y"))))
        .as("what commits at once is not kept")
        .isInstanceOf(Reply.Transacted.class);
    for (int i = 1; i <= 100; i++) {
      transact(i, 2, Request.End.COMMIT, List.of());
    }
    assertThat(usage("transactions").used()).isZero();
  }

  @Test
  void endsOfTransactions_areForgotten() {
    start(new PartitionConfig.Memory(LARGE, LARGE, 100_000));
    for (int i = 1; i <= 5_000; i++) {
      transact(
          i,
          1,
          Request.End.COMMIT,
          List.of(
              new Request.Update(Key.of("c"), CrdtType.PN_COUNTER, new Operation.Increment(1))));
    }
    assertThat(usage("ended").used()).isBetween(90_000L, 100_000L);
    assertThat(usage("ended").spent()).isGreaterThan(4_000);
  }
}
