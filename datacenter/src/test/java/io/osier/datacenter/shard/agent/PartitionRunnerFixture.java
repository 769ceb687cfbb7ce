package io.osier.datacenter.shard.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.time.SlewedClock;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.EffectsBuilder;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Machine;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.shard.TestShards;
import io.osier.datacenter.shard.agent.PartitionRunner.Callers;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.testing.Requests;
import io.osier.propagation.wire.Frame;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import io.osier.testing.Patience;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;

/** A runner of a machine that does what the key of a command says. */
abstract class PartitionRunnerFixture {
  static final ReplicaId SELF = new ReplicaId("eu", 1);

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

    void awaitOpen() {
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

  final Script script = new Script();

  final List<Frame> sent = new CopyOnWriteArrayList<>();

  final AtomicReference<Throwable> failure = new AtomicReference<>();

  PartitionRunner runner = runner(Journal.NONE);

  PartitionRunner runner(Journal journal) {
    return TestShards.runner(
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

  static Request write(String key) {
    return Requests.write("shop", Key.of(key), CrdtType.PN_COUNTER, new Operation.Increment(1));
  }

  CompletableFuture<Reply> submit(String key) {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    runner.offer(write(key), r -> assertThat(reply.complete(r)).as("one answer").isTrue()).run();
    return reply;
  }

  static boolean isDone(CompletableFuture<Reply> reply) {
    return reply.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join() instanceof Reply.Done;
  }

  PartitionRunner byCallers(Machine machine) {
    return create(machine, new MemoryStore(), Callers.RUN, Optional.empty());
  }

  PartitionRunner create(
      Machine machine, ObjectStore store, Callers callers, Optional<KeyspacePolicy> policy) {
    runner =
        TestShards.runner(
            new PartitionPorts("shop-0", machine, store, Journal.NONE, (to, frame) -> {}),
            10_000,
            callers,
            policy,
            failure::set);
    return runner;
  }
}
