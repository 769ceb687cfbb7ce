package io.osier.datacenter.shard.agent;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.PartitionProgress;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.Reply;
import io.osier.protocol.TransactionId;
import io.osier.testing.Patience;
import io.osier.testing.Refused;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class PartitionRunnerTest extends PartitionRunnerFixture {
  /** A journal whose groups become durable when the test says so. */
  private static final class SlowJournal implements Journal {
    @Override
    public void committed(TransactionId transaction, long number) {}

    final ConcurrentLinkedQueue<Runnable> groups = new ConcurrentLinkedQueue<>();
    final AtomicInteger records = new AtomicInteger();

    @Override
    public void append(Shipment update, CrdtState state) {
      records.incrementAndGet();
    }

    @Override
    public void commit(Optional<PartitionProgress> progress, Runnable whenDurable) {
      groups.add(whenDurable);
    }
  }

  private void awaitSeen(String what) {
    await().until(() -> script.seen.contains(what));
  }

  private static ErrorCode code(CompletableFuture<Reply> reply) {
    return ((Reply.Failure) reply.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join()).code();
  }

  @Test
  void fullQueue_isOverloadedAtOnce_andLosesNothing() {
    runner.start();
    List<CompletableFuture<Reply>> accepted = new ArrayList<>(List.of(submit("block")));
    awaitSeen("block");
    accepted.add(submit("a"));
    accepted.add(submit("b"));
    CompletableFuture<Reply> refused = submit("c");
    assertThat(refused).isDone();
    assertThat(code(refused)).isEqualTo(ErrorCode.OVERLOADED);
    runner.submit(new Input.PeerUp(new ReplicaId("us", 1))); // events are never refused
    script.open.countDown();
    assertThat(accepted).allMatch(PartitionRunnerFixture::isDone);
    awaitSeen("PeerUp");
    assertThat(script.seen).contains("a", "b").doesNotContain("c");
    assertThat(runner.overloads()).isEqualTo(1);
  }

  /** What the process ends with is what helps, not only that something failed. */
  @Test
  void failureWithACode_keepsItsCodeAndItsWords() {
    submit("damaged");
    runner.start();
    await().until(() -> failure.get() != null);
    assertThat(failure.get())
        .is(Refused.with(ErrorCode.STORE_DAMAGED))
        .hasMessage("STORE_DAMAGED: rebuild it");
    assertThat(requireNonNull(failure.get()).getSuppressed()[0]).hasMessageContaining("damaged");
  }

  /** An answer that was about to leave with the batch that failed was lost with it. */
  @Test
  void failingBatch_answersThoseWhoseAnswersWereAboutToLeave() {
    script.open.countDown();
    CompletableFuture<Reply> before = submit("a");
    CompletableFuture<Reply> broken = submit("break");
    runner.start();
    assertThat(code(before)).isEqualTo(ErrorCode.TIMEOUT);
    assertThat(code(broken)).isEqualTo(ErrorCode.TIMEOUT);
    assertThat(failure.get()).isNotNull();
  }

  @Test
  void outputThatCannotLeave_stopsNeitherTheOthersNorThePartition() {
    runner.start();
    runner
        .offer(
            write("a"),
            r -> {
              throw new IllegalStateException("a caller's fault");
            })
        .run();
    awaitSeen("a");
    assertThat(isDone(submit("b"))).isTrue();
    assertThat(failure.get()).isNull();
  }

  @Test
  void nothingLeaves_beforeItsGroupIsDurable_andTheNextBatchGoesOn() {
    SlowJournal journal = new SlowJournal();
    runner = runner(journal);
    runner.start();
    CompletableFuture<Reply> first = submit("a");
    await().until(() -> journal.groups.size() == 1);
    CompletableFuture<Reply> second = submit("b"); // executed while the first is being written
    await().until(() -> journal.groups.size() == 2);
    assertThat(script.seen).containsExactly("a", "b");
    assertThat(journal.records).hasValue(2);
    assertThat(first).isNotDone();
    assertThat(sent).isEmpty();
    journal.groups.poll().run();
    assertThat(isDone(first)).isTrue();
    assertThat(sent).hasSize(1);
    assertThat(second).isNotDone();
    journal.groups.poll().run();
    assertThat(isDone(second)).isTrue();
    assertThat(sent).hasSize(2);
  }

  @Test
  void machineThatThrows_stops_andEverybodyIsTold() {
    runner.start();
    CompletableFuture<Reply> broken = submit("break");
    awaitSeen("break");
    CompletableFuture<Reply> behind = submit("a");
    CompletableFuture<?> inspection = runner.inspect(0);
    script.open.countDown();
    assertThat(code(broken)).as("may have been done").isEqualTo(ErrorCode.TIMEOUT);
    assertThat(code(behind)).as("was not done").isEqualTo(ErrorCode.INTERNAL);
    await().until(inspection::isCompletedExceptionally);
    assertThat(failure.get())
        .hasMessageContaining("break")
        .hasRootCauseMessage("a broken invariant");
    assertThat(code(submit("later"))).isEqualTo(ErrorCode.SHUTTING_DOWN);
    await().until(() -> runner.inspect(0).isCompletedExceptionally());
    assertThat(script.seen).containsExactly("break");
    assertThat(sent).isEmpty();
  }

  @Test
  void refuse_flushesAfterTheLastAcceptedCommand() {
    script.drained = false;
    runner.start();
    CompletableFuture<Reply> first = submit("block");
    awaitSeen("block");
    CompletableFuture<Reply> second = submit("a");
    runner.refuse();
    assertThat(code(submit("b"))).isEqualTo(ErrorCode.SHUTTING_DOWN);
    assertThat(runner.isDrained()).isFalse();
    script.open.countDown();
    assertThat(List.of(first, second)).allMatch(PartitionRunnerFixture::isDone);
    await().until(() -> script.seen.getLast().equals("Flush"));
    assertThat(script.seen).containsSubsequence("block", "a", "Flush").doesNotContain("b");
    assertThat(runner.isDrained()).as("peers have not acknowledged").isFalse();
    runner.submit(new Input.PeerUp(new ReplicaId("us", 1))); // may let a waiting command go on
    await().until(() -> script.seen.contains("PeerUp"));
    await().until(() -> script.seen.getLast().equals("Flush"));
    script.drained = true;
    runner.submit(new Input.PeerDown("us")); // nothing but an input changes that
    await().until(runner::isDrained);
  }

  /** As of a keyspace that is dropped: nobody hears that the datacenter ends. */
  @Test
  void refuse_withAnotherAnswer_isNotChangedByAnEndThatFollows() {
    runner.start();
    CompletableFuture<Reply> before = submit("a");
    runner.refuse(new Reply.Failure(ErrorCode.UNKNOWN_KEYSPACE, "it was dropped"));
    assertThat(code(submit("b"))).isEqualTo(ErrorCode.UNKNOWN_KEYSPACE);
    runner.refuse();
    assertThat(code(submit("c"))).isEqualTo(ErrorCode.UNKNOWN_KEYSPACE);
    assertThat(isDone(before)).isTrue();
  }

  @Test
  void drained_isNotSaid_beforeTheLastAnswerIsOut() {
    SlowJournal journal = new SlowJournal();
    runner = runner(journal);
    runner.start();
    CompletableFuture<Reply> reply = submit("a");
    await().until(() -> journal.groups.size() == 1);
    runner.refuse();
    await().until(() -> journal.groups.size() == 2); // the flush
    assertThat(runner.isDrained()).isFalse();
    journal.groups.poll().run();
    assertThat(isDone(reply)).isTrue();
    assertThat(runner.isDrained()).isFalse();
    await()
        .until(
            () -> {
              Runnable flush = journal.groups.poll(); // one more if a tick came with the end
              if (flush != null) {
                flush.run();
              }
              return runner.isDrained();
            });
  }

  @Test
  void stop_answersWhatTheMachineStillHolds() {
    runner.start();
    CompletableFuture<Reply> held = submit("never");
    awaitSeen("never");
    runner.stop();
    assertThat(code(held)).isEqualTo(ErrorCode.SHUTTING_DOWN);
    assertThat(failure.get()).isNull();
  }

  /** As those of a keyspace that is dropped. */
  @Test
  void many_endAtOnce() {
    int partitions = 3;
    CountDownLatch asked = new CountDownLatch(partitions);
    List<PartitionRunner> runners = new ArrayList<>();
    AtomicInteger sawAll = new AtomicInteger();
    for (int i = 0; i < partitions; i++) {
      runners.add(
          byCallers(
              new Script() {
                @Override
                public void on(Input input, Now now) {
                  if (input instanceof Input.Inspect) {
                    asked.countDown();
                    sawAll.addAndGet(isOver(asked) ? 1 : 0);
                    throw new IllegalStateException("it has no report");
                  }
                }
              }));
    }
    runners.forEach(PartitionRunner::start);
    PartitionRunner.stopAll(runners);
    assertThat(sawAll).as("each was asked before any had answered").hasValue(partitions);
  }

  private static boolean isOver(CountDownLatch latch) {
    try {
      return latch.await(Patience.SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void tick_comesWhenItIsDue_andInputsWakeTheThread() {
    script.tick = System.nanoTime();
    runner.start();
    awaitSeen("Tick");
    assertThat(isDone(submit("a"))).isTrue();
    assertThat(script.seen.stream().filter("Tick"::equals)).hasSize(1);
  }
}
