package io.osier.datacenter.partition.machine;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.adaptation.AdaptationSettings;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.testing.Requests;
import io.osier.propagation.host.Forgetting;
import io.osier.propagation.host.LinkWindows;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.UpdateObserver;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import io.osier.testing.Faked;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a partition makes of commits that are sent again. */
final class RepeatedCommitTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final Key COUNTER = Key.of("c");

  private final Map<Long, Reply> replies = new HashMap<>();
  private final MemoryStore store = new MemoryStore();
  private Partition partition = partition(store, RecoveredState.NOTHING);
  private long tickets;

  private static Partition partition(ObjectStore store, RecoveredState recovered) {
    return partition(store, recovered, PartitionConfig.ENDED_TRANSACTIONS_MAX);
  }

  private static Partition partition(ObjectStore store, RecoveredState recovered, int ended) {
    return partition(store, recovered, ended, KeyspacePolicy.causal("k", Duration.ofSeconds(1)));
  }

  private static Partition partition(
      ObjectStore store, RecoveredState recovered, int ended, KeyspacePolicy policy) {
    return new Partition(
        new PartitionConfig(
            SELF,
            List.of(),
            policy,
            0,
            StreamSettings.DEFAULT,
            AdaptationSettings.DEFAULT,
            ended,
            PartitionConfig.Memory.DEFAULT,
            true,
            LinkWindows.NONE,
            UpdateObserver.NONE),
        store,
        recovered,
        new Now(1, 1));
  }

  private Reply ask(Request request) {
    long ticket = ++tickets;
    Effects effects = partition.step(new Input.Command(ticket, request), new Now(1, 1));
    for (Effects.Output output : effects.whenDurable()) {
      if (output instanceof Effects.ToClient a) {
        replies.put(a.ticket(), a.reply());
      }
    }
    return replies.remove(ticket);
  }

  /** A transaction in one request: adds 1 to the counter. */
  private static Request.Transact add(long id) {
    return add(id, CrdtType.PN_COUNTER, Request.End.COMMIT);
  }

  private static Request.Transact add(long id, CrdtType type, Request.End end) {
    return new Request.Transact(
        "k",
        new TransactionId(0, id),
        1,
        Optional.of(new Request.Begin(VersionVector.EMPTY, false, 0, 60_000)),
        List.of(increment(type)),
        List.of(),
        end);
  }

  private static Request.Update increment(CrdtType type) {
    return new Request.Update(COUNTER, type, new Operation.Increment(1));
  }

  private static Request.Transact step(
      long id, int step, Request.End end, Request.Update... updates) {
    return new Request.Transact(
        "k", new TransactionId(0, id), step, Optional.empty(), List.of(updates), List.of(), end);
  }

  private long counter() {
    CrdtState state = store.get(new ObjectId(COUNTER, CrdtType.PN_COUNTER));
    return state == null
        ? 0
        : ((io.osier.crdt.Reading.Count) state.read(new Query.Whole())).value();
  }

  private static @Nullable ErrorCode code(Reply reply) {
    return reply instanceof Reply.Failure f ? f.code() : null;
  }

  @Test
  void commit_isDoneOnce_whicheverSendingComesFirst() {
    Reply first = ask(add(1));
    assertThat(ask(new Request.Repeat(SELF, 0, add(1)))).isEqualTo(first);
    Reply repeated = ask(new Request.Repeat(SELF, 0, add(2)));
    assertThat(ask(add(2))).as("the first sending, late").isEqualTo(repeated);
    assertThat(counter()).isEqualTo(2);
  }

  @Test
  void commitThatIsForgotten_isNotDoneAgain() {
    partition = partition(store, RecoveredState.NOTHING, 10);
    for (int i = 1; i <= 11; i++) {
      ask(add(i));
    }
    assertThat(code(ask(new Request.Repeat(SELF, 0, add(1)))))
        .isEqualTo(ErrorCode.TRANSACTION_FORGOTTEN);
    assertThat(counter()).isEqualTo(11);
    ask(new Request.Repeat(SELF, 0, add(2)));
    assertThat(counter()).as("this one is remembered").isEqualTo(11);
    ask(new Request.Repeat(SELF, 1, add(12)));
    assertThat(counter()).as("newer than all that was forgotten: not done yet").isEqualTo(12);
  }

  /** Another holder may have committed it, which this one forgot at its restart. */
  @Test
  void commitThatAHolderMayHaveForwardedBeforeItHeld_isNotDoneAgain() {
    KeyspacePolicy policy =
        KeyspacePolicy.causal("k", Duration.ofSeconds(1)).withReplicas(List.of("eu", "us"));
    partition =
        partition(store, RecoveredState.NOTHING, PartitionConfig.ENDED_TRANSACTIONS_MAX, policy);
    assertThat(code(ask(new Request.Repeat(SELF, 0, add(1)))))
        .isEqualTo(ErrorCode.TRANSACTION_FORGOTTEN);
    assertThat(code(ask(new Request.Repeat(SELF, 0, step(1, 3, Request.End.COMMIT)))))
        .isEqualTo(ErrorCode.TRANSACTION_FORGOTTEN);
    Reply first = ask(add(2));
    assertThat(ask(new Request.Repeat(SELF, 0, add(2)))).as("known").isEqualTo(first);
    ask(new Request.Repeat(SELF, 1, add(3)));
    assertThat(counter()).as("sent while it held the keyspace").isEqualTo(2);
  }

  @Test
  void commitThatIsForgottenByARestart_isNotDoneAgain() {
    Map<TransactionId, Long> kept = new LinkedHashMap<>();
    for (long i = 1; i <= ObjectStore.TRANSACTIONS_KEPT; i++) {
      kept.put(new TransactionId(1, i), 5_000 + i);
    }
    RecoveredState recovered =
        new RecoveredState(
            1,
            true,
            20_000,
            20_000,
            1,
            VersionVector.of(SELF, 20_000),
            Set.of(),
            Map.of(),
            true,
            Forgetting.NOTHING,
            1);
    ObjectStore restarted =
        Faked.of(
            ObjectStore.class,
            (proxy, method, arguments) ->
                method.getName().equals("transactions") ? kept : method.invoke(store, arguments));
    partition = partition(restarted, recovered);
    assertThat(code(ask(new Request.Repeat(SELF, 4_999, add(1)))))
        .isEqualTo(ErrorCode.TRANSACTION_FORGOTTEN);
    assertThat(code(ask(new Request.Repeat(SELF, 4_999, step(2, 3, Request.End.COMMIT)))))
        .isEqualTo(ErrorCode.TRANSACTION_FORGOTTEN);
    assertThat(code(ask(new Request.Repeat(SELF, 5_000, step(2, 3, Request.End.COMMIT)))))
        .as("it was open before the restart, and not committed")
        .isEqualTo(ErrorCode.TRANSACTION_ENDED);
  }

  @Test
  void repeatThatCannotBeDone_endsTheTransaction_forTheFirstSendingToo() {
    ask(add(1, CrdtType.G_COUNTER, Request.End.COMMIT));
    assertThat(code(ask(new Request.Repeat(SELF, 0, add(2)))))
        .isEqualTo(ErrorCode.TRANSACTION_ENDED);
    ask(Requests.write("k", COUNTER, CrdtType.G_COUNTER, new Operation.Clear()));
    assertThat(code(ask(add(2)))).isEqualTo(ErrorCode.TRANSACTION_ENDED);
    assertThat(counter()).isZero();
  }

  @Test
  void otherStepUnderTheNumberOfTheLast_isRefused() {
    ask(add(1, CrdtType.PN_COUNTER, Request.End.OPEN));
    // Its answer is lost, and the client takes it for undone.
    ask(step(1, 2, Request.End.OPEN, increment(CrdtType.PN_COUNTER)));
    assertThat(code(ask(step(1, 2, Request.End.COMMIT)))).isEqualTo(ErrorCode.INVALID_ARGUMENT);
    assertThat(counter()).as("not committed, and not said to be").isZero();
    assertThat(ask(step(1, 3, Request.End.COMMIT))).isInstanceOf(Reply.Transacted.class);
    assertThat(counter()).isEqualTo(2);
  }

  @Test
  void otherStepUnderTheNumberOfTheLast_isDone_ifThatHadNoUpdates() {
    ask(add(1, CrdtType.PN_COUNTER, Request.End.OPEN));
    ask(step(1, 2, Request.End.OPEN)); // the client takes it for undone
    assertThat(ask(step(1, 2, Request.End.COMMIT))).isInstanceOf(Reply.Transacted.class);
    assertThat(counter()).isEqualTo(1);
  }
}
