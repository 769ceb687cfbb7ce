package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.adaptation.AdaptationSettings;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.SlewedClock;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.partition.Now;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.PartitionConfig;
import io.osier.datacenter.store.MemoryStore;
import io.osier.propagation.Shipment;
import io.osier.propagation.StreamSettings;
import io.osier.proxy.protocol.Reply;
import io.osier.proxy.protocol.Request;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class PartitionRunnerTest {
  private static final Request.Write INCREMENT =
      new Request.Write(
          "k",
          Key.of("x"),
          CrdtType.PN_COUNTER,
          new Operation.Increment(1),
          VersionVector.EMPTY,
          0);

  private static PartitionRunner runner(Journal journal, int queue) {
    long nanos = System.nanoTime();
    MemoryStore store = new MemoryStore();
    Partition partition =
        new Partition(
            new PartitionConfig(
                new ReplicaId("eu", 1),
                List.of(),
                KeyspacePolicy.session("k", Duration.ZERO),
                0,
                StreamSettings.DEFAULT,
                AdaptationSettings.DEFAULT),
            store,
            new Now(nanos, 1));
    return new PartitionRunner(
        "k-0",
        partition,
        store,
        journal,
        queue,
        new SlewedClock(1, nanos),
        (dc, frame) -> {},
        e -> {});
  }

  @Test
  void fullQueue_isAnsweredAtOnce_andNothingIsLost() throws Exception {
    PartitionRunner runner = runner(Journal.NONE, 2);
    List<CompletableFuture<Reply>> replies = new CopyOnWriteArrayList<>();
    for (int i = 0; i < 3; i++) {
      CompletableFuture<Reply> reply = new CompletableFuture<>();
      replies.add(reply);
      runner.submit(INCREMENT, reply::complete);
    }
    assertThat(replies.get(2).getNow(null))
        .isInstanceOfSatisfying(
            Reply.Failure.class, f -> assertThat(f.code()).isEqualTo(ErrorCode.OVERLOADED));
    runner.start();
    assertThat(replies.get(0).get(10, TimeUnit.SECONDS)).isInstanceOf(Reply.Done.class);
    assertThat(replies.get(1).get(10, TimeUnit.SECONDS)).isInstanceOf(Reply.Done.class);
    runner.refuse();
    CompletableFuture<Reply> late = new CompletableFuture<>();
    runner.submit(INCREMENT, late::complete);
    assertThat(late.join())
        .isInstanceOfSatisfying(
            Reply.Failure.class, f -> assertThat(f.code()).isEqualTo(ErrorCode.SHUTTING_DOWN));
    runner.stop();
  }

  /** Invariant I5. */
  @Test
  void nothingIsAnswered_beforeItsRecordsAreDurable() throws Exception {
    List<Runnable> commits = new CopyOnWriteArrayList<>();
    List<Shipment> records = new CopyOnWriteArrayList<>();
    CompletableFuture<Void> committed = new CompletableFuture<>();
    PartitionRunner runner =
        runner(
            new Journal() {
              @Override
              public void append(Shipment update) {
                records.add(update);
              }

              @Override
              public void commit(Runnable whenDurable) {
                commits.add(whenDurable);
                if (!records.isEmpty()) {
                  committed.complete(null);
                }
              }
            },
            10);
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    runner.submit(INCREMENT, reply::complete);
    runner.start();
    committed.get(10, TimeUnit.SECONDS);
    assertThat(records).hasSize(1);
    assertThat(reply).isNotDone();
    commits.forEach(Runnable::run);
    assertThat(reply.get(10, TimeUnit.SECONDS)).isInstanceOf(Reply.Done.class);
    runner.stop();
  }
}
