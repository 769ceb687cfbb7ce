package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.core.memory.Budget;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.store.DecompositionLimits;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.WritesAtOnce;
import io.osier.datacenter.store.memory.MemoryVersions;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.store.objects.PartitionStore;
import io.osier.datacenter.testing.Partitions;
import io.osier.datacenter.testing.Requests;
import io.osier.propagation.host.RecoveredState;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a causal partition keeps in the heap, with budgets of a few values: each holds. */
final class CausalBudgetTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final long LARGE = Long.MAX_VALUE / 2;
  private static final int VALUE_BYTES = 10_000;

  @SuppressWarnings("NullAway.Init") // each test starts it first
  private Partition partition;

  @SuppressWarnings("NullAway.Init")
  private ObjectStore held;

  private long nanos = 1;
  private long tickets;

  private void start(PartitionConfig.Memory memory) {
    start(memory, new MemoryStore(), RecoveredState.NOTHING);
  }

  private void start(PartitionConfig.Memory memory, ObjectStore store, RecoveredState recovered) {
    held = store;
    partition =
        new Partition(
            Partitions.config(SELF, List.of(), KeyspacePolicy.causal("k", Duration.ofSeconds(1)))
                .within(memory),
            store,
            recovered,
            new Now(nanos, 1));
  }

  private Effects step(Input input) {
    nanos += 1_000;
    Effects effects = partition.step(input, new Now(nanos, 1 + nanos / 1_000_000));
    if (held instanceof PartitionStore store) {
      effects.keep(store, () -> {});
    }
    return effects;
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
        Requests.write(
            "k", Key.of(key), CrdtType.LWW_REGISTER, new Operation.Assign(Value.of(value))));
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

  private static final int FIELDS = 1_000;

  /** What a field takes at least that a transaction has removed. */
  private static final long GONE_BYTES = 40;

  private static FieldId field(int i) {
    return new FieldId("field " + i, CrdtType.LWW_REGISTER);
  }

  private void fillMap(String key, int fields) {
    List<Operation.FieldUpdate> updates =
        IntStream.range(0, fields)
            .mapToObj(i -> new Operation.FieldUpdate(field(i), new Operation.Assign(Value.of(i))))
            .toList();
    Reply reply =
        ask(Requests.write("k", Key.of(key), CrdtType.OR_MAP, new Operation.UpdateFields(updates)));
    assertThat(code(reply)).isNull();
  }

  private static Request.Update clear(String key) {
    return new Request.Update(Key.of(key), CrdtType.OR_MAP, new Operation.Clear());
  }

  /** A decomposed map, whose fields are not in the heap until a transaction removes them. */
  private void startDecomposed(PartitionConfig.Memory memory, int maps) {
    MemoryVersions versions = new MemoryVersions();
    PartitionStore store =
        Partitions.store(
            versions, new WritesAtOnce(versions::write), SELF, new DecompositionLimits(1_000, 8));
    RecoveredState recovered = store.recover(1, false, List.of());
    start(memory, store, recovered);
    for (int i = 0; i < maps; i++) {
      fillMap("map" + i, FIELDS);
    }
    for (int round = 0; round < 20; round++) { // until the fields have gone from the heap
      for (int i = 0; i < maps; i++) {
        fillMap("map" + i, 1);
      }
    }
  }

  @Test
  void versionsOfOpenTransactions_takeWhatTheirFieldsTake() {
    startDecomposed(new PartitionConfig.Memory(LARGE, LARGE, LARGE), 3);
    fillMap("small", 10);
    transact(1, 1, Request.End.OPEN, List.of(clear("small")));
    long small = usage("transactions").used();
    assertThat(small).isLessThan(10_000);
    transact(2, 1, Request.End.OPEN, List.of(clear("map0")));
    long one = usage("transactions").used();
    assertThat(one).isGreaterThan(FIELDS * GONE_BYTES);
    transact(2, 2, Request.End.OPEN, List.of(clear("map0")));
    assertThat(usage("transactions").used()).as("it is gone already").isLessThan(one + 2_000);
    transact(3, 1, Request.End.OPEN, List.of(clear("map1"), clear("map2")));
    assertThat(usage("transactions").used()).isGreaterThan(3 * FIELDS * GONE_BYTES);
    transact(1, 2, Request.End.ABORT, List.of());
    transact(2, 3, Request.End.COMMIT, List.of());
    nanos += 120_000_000_000L; // the time limit of the third
    step(new Input.Tick());
    assertThat(usage("transactions").used()).isZero();
  }

  @Test
  void versionsBeyondTheBudget_areRefused_whileOthersAreOpen() {
    startDecomposed(new PartitionConfig.Memory(LARGE, FIELDS * GONE_BYTES, LARGE), 3);
    Reply alone = transact(1, 1, Request.End.OPEN, List.of(clear("map0")));
    assertThat(code(alone)).as("one is larger than all that there is").isNull();
    long used = usage("transactions").used();
    assertThat(used).isGreaterThan(FIELDS * GONE_BYTES);
    Reply other = transact(2, 1, Request.End.OPEN, List.of(clear("map1")));
    assertThat(code(other)).isEqualTo(ErrorCode.OVERLOADED);
    Reply further = transact(1, 2, Request.End.OPEN, List.of(clear("map1")));
    assertThat(code(further)).isEqualTo(ErrorCode.OVERLOADED);
    assertThat(usage("transactions").used()).as("nothing was done").isEqualTo(used);
    assertThat(code(transact(3, 1, Request.End.COMMIT, List.of(clear("map1")))))
        .as("what commits at once is not kept")
        .isNull();
    assertThat(code(transact(4, 1, Request.End.COMMIT, List.of(clear("map0"), clear("map2")))))
        .isEqualTo(ErrorCode.OVERLOADED);
    assertThat(code(transact(1, 2, Request.End.COMMIT, List.of()))).isNull();
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
