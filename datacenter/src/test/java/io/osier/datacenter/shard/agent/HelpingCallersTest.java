package io.osier.datacenter.shard.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.shard.agent.PartitionRunner.Callers;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.Reply;
import io.osier.testing.Interleavings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Callers run the partition while its thread sleeps. */
final class HelpingCallersTest extends PartitionRunnerFixture {
  @Test
  void callers_areAnsweredBeforeTheyReturn_andMayCallAgainFromAnAnswer() {
    Script machine = new Script();
    byCallers(machine); // and its thread is not even started
    List<Reply> replies = new ArrayList<>();
    runner
        .offer(
            write("a"),
            first -> {
              replies.add(first);
              runner.offer(write("b"), replies::add).run();
            })
        .run();
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

  /** Until the thread sleeps: nobody needs to wake it then, and the caller does it itself. */
  private void submitUntilHelped(Slow machine) {
    await()
        .until(
            () -> {
              assertThat(isDone(submit("a"))).isTrue();
              return machine.by.equals(Thread.currentThread().getName());
            });
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
    Runnable caller =
        () -> {
          for (int i = 0; i < 5_000; i++) {
            CompletableFuture<Reply> reply = new CompletableFuture<>();
            runner.offer(write("k"), reply::complete).run();
            assertThat(reply.join()).isInstanceOf(Reply.Done.class);
            answered.incrementAndGet();
          }
        };
    Interleavings.run(caller, caller, caller, caller);
    assertThat(answered.get()).isEqualTo(20_000);
    assertThat(clashes.get()).isZero();
  }

  @Test
  void machineThatThrowsAtACaller_stopsAsAtItsOwnThread() {
    Script machine = new Script();
    machine.open.countDown();
    byCallers(machine).start();
    List<Reply> replies = new CopyOnWriteArrayList<>();
    runner.offer(write("never"), replies::add).run();
    runner.offer(write("break"), replies::add).run();
    await().until(() -> failure.get() != null);
    await().until(() -> replies.size() == 2);
    assertThat(replies).allMatch(r -> r instanceof Reply.Failure);
    runner.offer(write("x"), replies::add).run();
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
    Duration sla = Duration.ofMillis(200); // the first call must not take so long
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
    runner.offer(write("a"), r -> {}).run();
    await().until(() -> machine.seen.contains("Tick"));
  }
}
