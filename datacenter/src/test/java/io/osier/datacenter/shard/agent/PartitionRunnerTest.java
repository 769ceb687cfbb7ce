package io.osier.datacenter.shard.agent;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.time.SlewedClock;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.EffectsBuilder;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Machine;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.shard.Keyspaces;
import io.osier.datacenter.shard.agent.PartitionRunner.Callers;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.PartitionProgress;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.testing.Requests;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import io.osier.testing.Patience;
import io.osier.testing.Refused;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class PartitionRunnerTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);

  /** A machine that does what the key of a command says. */
  static class Script implements Machine {
    final List<String> seen = new CopyOnWriteArrayList<>();
    final CountDownLatch open = new CountDownLatch(1);
    volatile boolean drained = true;
    volatile long tick = Long.MAX_VALUE;
    volatile long gathered;
    volatile Supplier<Reply> longAnswer = () -> new Reply.Done(new Dot(SELF, 99));
    final EffectsBuilder effects = new EffectsBuilder(true);

    @Override
    public long gatheredBytes() {
      return gathered;
    }

    @Override
    public Effects takeEffects() {
      gathered = 0;
      return effects.take(Optional.empty());
    }

    @Override
    public void handled(int shipments, long nanos) {
      seen.add("handled " + shipments);
    }

    @Override
    @SuppressWarnings("NullAway") // what was applied is looked at by nobody here
    public void on(Input input, Now now) {
      if (input instanceof Input.Tick) {
        tick = Long.MAX_VALUE;
      }
      if (!(input instanceof Input.Command command)) {
        seen.add(input.getClass().getSimpleName());
        return;
      }
      String key = ((Request.Write) command.request()).key().toString();
      seen.add(key);
      switch (key) {
        case "block" -> awaitOpen();
        case "break" -> {
          awaitOpen();
          throw new IllegalStateException("a broken invariant");
        }
        case "damaged" -> throw new OsierException(ErrorCode.STORE_DAMAGED, "rebuild it");
        case "large" -> gathered = 100 << 20;
        case "never" -> {
          return;
        }
        case "step" -> {
          Input.Untold reads = new Input.Untold(new TransactionId(1, 2), 3);
          effects.answer(new Effects.LongAnswer(command.ticket(), longAnswer, Optional.of(reads)));
          return;
        }
        case "long" -> {
          effects.answerLater(command.ticket(), longAnswer);
          return;
        }
        default -> {}
      }
      effects.applied(null, null);
      effects.send(new ReplicaId("us", 1), new Frame.Ack(1, seen.size()));
      effects.answer(command.ticket(), new Reply.Done(new Dot(SELF, seen.size())));
    }

    private void awaitOpen() {
      try {
        assertThat(open.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }

    @Override
    public long nextTickNanos() {
      return tick;
    }

    @Override
    public boolean isReady() {
      return true;
    }

    @Override
    public boolean isDrained() {
      return drained;
    }
  }

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

  private final Script script = new Script();
  private final List<Frame> sent = new CopyOnWriteArrayList<>();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private PartitionRunner runner = runner(Journal.NONE);

  private PartitionRunner runner(Journal journal) {
    return new PartitionRunner(
        new PartitionPorts(
            "shop-0", script, new MemoryStore(), journal, (to, frame) -> sent.add(frame)),
        2,
        new SlewedClock(Time.wallMillis(), System.nanoTime()),
        failure::set);
  }

  @AfterEach
  void stop() {
    script.open.countDown();
    runner.stop();
  }

  private static Request write(String key) {
    return Requests.write("shop", Key.of(key), CrdtType.PN_COUNTER, new Operation.Increment(1));
  }

  private CompletableFuture<Reply> submit(String key) {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    runner.submit(write(key), r -> assertThat(reply.complete(r)).as("one answer").isTrue());
    return reply;
  }

  private void awaitSeen(String what) {
    await().until(() -> script.seen.contains(what));
  }

  private static ErrorCode code(CompletableFuture<Reply> reply) {
    return ((Reply.Failure) reply.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join()).code();
  }

  private static boolean isDone(CompletableFuture<Reply> reply) {
    return reply.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join() instanceof Reply.Done;
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
    assertThat(accepted).allMatch(PartitionRunnerTest::isDone);
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
    runner.submit(
        write("a"),
        r -> {
          throw new IllegalStateException("a caller's fault");
        });
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
    assertThat(List.of(first, second)).allMatch(PartitionRunnerTest::isDone);
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
    Keyspaces.stop(runners);
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

  // ---------------------------------------------------------------- callers run it

  private PartitionRunner byCallers(Machine machine) {
    return create(machine, new MemoryStore(), Callers.RUN, Optional.empty());
  }

  private PartitionRunner create(
      Machine machine, ObjectStore store, Callers callers, Optional<KeyspacePolicy> policy) {
    runner =
        new PartitionRunner(
            new PartitionPorts("shop-0", machine, store, Journal.NONE, (to, frame) -> {}),
            new Inbox(10_000),
            new SlewedClock(Time.wallMillis(), System.nanoTime()),
            failure::set,
            callers,
            GroupCommitHelp.NONE,
            policy);
    return runner;
  }

  @Test
  void callers_areAnsweredBeforeTheyReturn_andMayCallAgainFromAnAnswer() {
    Script machine = new Script();
    byCallers(machine); // and its thread is not even started
    List<Reply> replies = new ArrayList<>();
    runner.submit(
        write("a"),
        first -> {
          replies.add(first);
          runner.submit(write("b"), replies::add);
        });
    assertThat(replies).hasSize(2).allMatch(r -> r instanceof Reply.Done);
    assertThat(machine.seen).containsExactly("a", "b");
  }

  /** Says who has run it, and takes its time when it is told to. */
  private static final class Slow extends Script {
    volatile long nanos;
    volatile String by = "nobody";

    @Override
    public void on(Input input, Now now) {
      by = Thread.currentThread().getName();
      long began = System.nanoTime();
      while (System.nanoTime() - began < nanos) {
        Thread.onSpinWait();
      }
      super.on(input, now);
    }
  }

  /** Until the thread sleeps, and leaves it to this one. */
  private void submitUntilHelped(Slow machine) {
    do {
      assertThat(isDone(submit("a"))).isTrue();
    } while (machine.by.equals("shop-0"));
  }

  @Test
  void whatTakesLong_isLeftToTheThread_theNextTime() {
    Slow machine = new Slow();
    create(machine, new MemoryStore(), Callers.HELP, Optional.empty()).start();
    submitUntilHelped(machine);
    machine.nanos = 6_000_000;
    submitUntilHelped(machine);
    machine.nanos = 0;
    assertThat(isDone(submit("b"))).isTrue();
    assertThat(machine.by).isEqualTo("shop-0");
  }

  @Test
  void largeFrameOfAPeer_isLeftToTheThread() {
    Slow machine = new Slow();
    create(machine, new MemoryStore(), Callers.HELP, Optional.empty()).start();
    assertThat(whoTakes(machine, 65)).isEqualTo("shop-0");
    await().until(() -> !whoTakes(machine, 64).equals("shop-0")); // unless it is awake by chance
  }

  /** Who handles a frame with so many shipments that comes when the thread sleeps. */
  private String whoTakes(Slow machine, int shipments) {
    submitUntilHelped(machine);
    ReplicaId peer = new ReplicaId("us", 1);
    ObjectId object = new ObjectId(Key.of("k"), CrdtType.PN_COUNTER);
    CrdtState delta =
        CrdtState.bottom(CrdtType.PN_COUNTER).prepare(new Operation.Increment(1), peer, 1, 0, 1, 0);
    Shipment one = new Shipment(object, peer, 0, VersionVector.EMPTY, 1, 1, 0, delta);
    Frame frame =
        new Frame.Updates(
            Frame.Kind.OPS,
            1,
            1,
            1,
            VersionVector.EMPTY,
            Optional.empty(),
            false,
            0,
            Collections.nCopies(shipments, one));
    machine.seen.clear();
    runner.submit(new Input.FromPeer(peer, frame));
    await().until(() -> machine.seen.contains("FromPeer"));
    return machine.by;
  }

  @ParameterizedTest
  @EnumSource(
      value = Callers.class,
      names = {"HELP", "RUN"})
  void manyCallers_runItOneAtATime_andAllAreAnswered(Callers callers) throws InterruptedException {
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger clashes = new AtomicInteger();
    AtomicInteger answered = new AtomicInteger();
    Script machine =
        new Script() {
          @Override
          public void on(Input input, Now now) {
            if (inside.getAndIncrement() != 0) {
              clashes.incrementAndGet();
            }
            if (input instanceof Input.Command c) {
              effects.answer(c.ticket(), new Reply.Done(new Dot(SELF, 1)));
            }
            inside.decrementAndGet();
          }
        };
    create(machine, new MemoryStore(), callers, Optional.empty()).start();
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      threads.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int i = 0; i < 5_000; i++) {
                      CompletableFuture<Reply> reply = new CompletableFuture<>();
                      runner.submit(write("k"), reply::complete);
                      assertThat(reply.join()).isInstanceOf(Reply.Done.class);
                      answered.incrementAndGet();
                    }
                  }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(answered.get()).isEqualTo(20_000);
    assertThat(clashes.get()).isZero();
  }

  /** Nobody needs to wake a thread that sleeps, nor to wait for one that is awake. */
  @Test
  void callersThatHelp_doItThemselvesWhileTheThreadSleeps() {
    Map<String, Thread> by = new ConcurrentHashMap<>();
    Script machine =
        new Script() {
          @Override
          public void on(Input input, Now now) {
            if (input instanceof Input.Command c && c.request() instanceof Request.Write w) {
              by.put(w.key().toString(), Thread.currentThread());
            }
            super.on(input, now);
          }
        };
    create(machine, new MemoryStore(), Callers.HELP, Optional.empty()).start();
    await()
        .until(
            () -> {
              by.clear();
              runner.submit(write("a"), r -> {});
              return by.get("a") == Thread.currentThread();
            });
  }

  @Test
  void machineThatThrowsAtACaller_stopsAsAtItsOwnThread() {
    Script machine = new Script();
    machine.open.countDown();
    byCallers(machine).start();
    List<Reply> replies = new CopyOnWriteArrayList<>();
    runner.submit(write("never"), replies::add);
    runner.submit(write("break"), replies::add);
    await().until(() -> failure.get() != null);
    await().until(() -> replies.size() == 2);
    assertThat(replies).allMatch(r -> r instanceof Reply.Failure);
    runner.submit(write("x"), replies::add);
    await().until(() -> replies.size() == 3);
    assertThat(machine.seen).doesNotContain("x");
  }

  @Test
  void whatComesWhileACallerAbsorbs_isDoneByThatCaller() {
    ObjectStore store = new MemoryStore();
    CrdtState empty = CrdtState.bottom(CrdtType.PN_COUNTER);
    CrdtState one = empty.join(empty.prepare(new Operation.Increment(1), SELF, 1, 0, 1, 0));
    for (String key : List.of("a", "b")) {
      store.put(new ObjectId(Key.of(key), CrdtType.PN_COUNTER), one);
    }
    Script machine =
        new Script() {
          @Override
          public void on(Input input, Now now) {
            super.on(input, now);
            if (input instanceof Input.Tick) {
              // Another thread brings a frame; it finds the machine busy and goes.
              CompletableFuture.runAsync(() -> runner.submit(new Input.PeerDown("us"))).join();
            }
          }
        };
    machine.tick = System.nanoTime(); // the last that a batch does
    Duration sla = Duration.ofMillis(1);
    create(
        machine,
        store,
        Callers.COMBINE,
        Optional.of(KeyspacePolicy.session("k", sla))); // no thread
    Operation increment = new Operation.Increment(1);
    assertThat(runner.combine(Key.of("a"), CrdtType.PN_COUNTER, increment)).isTrue();
    long then = System.nanoTime();
    await().until(() -> System.nanoTime() - then > sla.toNanos()); // what the runner reads, too
    assertThat(runner.combine(Key.of("b"), CrdtType.PN_COUNTER, increment)).isTrue();
    assertThat(machine.seen).containsExactly("Absorbed", "Tick", "PeerDown");
  }

  @Test
  void tickThatACallerBringsForward_isDoneByTheThread() {
    Script machine =
        new Script() {
          @Override
          public void on(Input input, Now now) {
            super.on(input, now);
            if (input instanceof Input.Command) {
              tick = System.nanoTime() + 3_000_000;
            }
          }
        };
    byCallers(machine).start();
    runner.submit(write("a"), r -> {});
    await().until(() -> machine.seen.contains("Tick"));
  }
}
