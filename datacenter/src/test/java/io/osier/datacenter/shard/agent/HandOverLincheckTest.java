package io.osier.datacenter.shard.agent;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
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
import io.osier.datacenter.shard.agent.PartitionRunner.Callers;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.testing.Interleavings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * The hand-overs between those who bring something and those who run a partition, with the threads
 * interleaved by Lincheck's model checker: nothing is lost or done twice. Sleepers sleep without a
 * time-out here, so a wake-up that is lost is a test that hangs, which is reported.
 */
final class HandOverLincheckTest {
  private static final long FAR = Long.MAX_VALUE / 2;

  // ---------------------------------------------------------------- the runner's own thread

  /** A thread's permit, as that of LockSupport, without its time-out. */
  private static final class Permit implements Sleep.Sleeper {
    private boolean given;

    @Override
    public synchronized void park(long nanos) {
      while (!given) {
        try {
          wait();
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
      given = false;
    }

    @Override
    public synchronized void unpark() {
      given = true;
      notifyAll();
    }
  }

  private static final Time STILL =
      new Time() {
        @Override
        public long nanos() {
          return 0;
        }

        @Override
        public long millis() {
          return now().millis();
        }

        @Override
        public Now now() {
          return new Now(0, 0);
        }
      };

  @Test
  void commandsAndEvents_wakeTheThread_andAreDoneOnce() {
    Interleavings.of(
        () -> {
          Inbox inbox = new Inbox(10);
          Sleep sleep = new Sleep(new Permit());
          AtomicInteger answered = new AtomicInteger();
          Thread runner = Interleavings.start(() -> takeThree(inbox, sleep));
          Thread commands =
              Interleavings.start(
                  () -> {
                    for (int i = 0; i < 2; i++) {
                      inbox.offer(new Request.Ping(), r -> answered.incrementAndGet());
                      sleep.wake();
                    }
                  });
          Thread events =
              Interleavings.start(
                  () -> {
                    inbox.add(new Input.Tick());
                    sleep.wake();
                  });
          List.of(runner, commands, events).forEach(Interleavings::join);
          Interleavings.check(answered.get() == 2 && inbox.isEmpty() && inbox.memory().used() == 0);
        });
  }

  /** As the runner's thread does. */
  private static void takeThree(Inbox inbox, Sleep sleep) {
    for (int taken = 0; taken < 3; ) {
      Inbox.Command command = inbox.pollCommand();
      if (command != null) {
        command.accept(new Reply.Pong());
        taken++;
      } else if (inbox.pollEvent() != null) {
        taken++;
      } else {
        sleep.unlessBusy(() -> FAR, () -> !inbox.isEmpty(), STILL);
      }
    }
  }

  // ---------------------------------------------------------------- callers that run it

  /** Answers each command. */
  private static final class Answering implements Machine {
    private final EffectsBuilder effects = new EffectsBuilder(false);
    private boolean running;
    int done;

    @Override
    public void on(Input input, Now now) {
      Interleavings.check(!running); // by one at a time
      running = true;
      if (input instanceof Input.Command command) {
        done++;
        effects.answer(command.ticket(), new Reply.Pong());
      }
      running = false;
    }

    @Override
    public Effects takeEffects() {
      return effects.take(Optional.empty());
    }

    @Override
    public long nextTickNanos() {
      return Long.MAX_VALUE;
    }

    @Override
    public boolean isReady() {
      return true;
    }

    @Override
    public boolean isDrained() {
      return true;
    }

    @Override
    public void handled(int shipments, long nanos) {}
  }

  private static PartitionRunner runner(Machine machine) {
    return new PartitionRunner(
        new PartitionPorts("test", machine, new MemoryStore(), Journal.NONE, (to, frame) -> {}),
        new Inbox(10),
        new SlewedClock(0, 0),
        e -> {},
        Callers.RUN,
        GroupCommitHelp.NONE,
        Optional.empty());
  }

  /** The runner's thread is not there: who brings a command, or is at the machine, does it. */
  @Test
  void commandsOfCallersThatRunThePartition_areAnsweredOnceWhenTheyReturn() {
    Interleavings.of(
        () -> {
          Answering machine = new Answering();
          PartitionRunner runner = runner(machine);
          AtomicInteger answers = new AtomicInteger();
          Runnable caller =
              () -> runner.offer(new Request.Ping(), r -> answers.incrementAndGet()).run();
          List.of(
                  Interleavings.start(caller),
                  Interleavings.start(caller),
                  Interleavings.start(caller))
              .forEach(Interleavings::join);
          Interleavings.check(machine.done == 3 && answers.get() == 3 && runner.queued() == 0);
        });
  }

  // ---------------------------------------------------------------- what is acknowledged in front

  private static final Key KEY = Key.of("c");

  private static Combiner combiner() {
    MemoryStore store = new MemoryStore();
    CrdtState empty = CrdtState.bottom(CrdtType.PN_COUNTER);
    Operation one = new Operation.Increment(1);
    store.put(
        new ObjectId(KEY, CrdtType.PN_COUNTER),
        empty.join(empty.prepare(one, new ReplicaId("eu", 1), 1, 0, 1, 0)));
    KeyspacePolicy policy = KeyspacePolicy.session("k", Duration.ofSeconds(1));
    return new Combiner(store, policy, () -> 0, due -> {});
  }

  private static boolean increment(Combiner combiner) {
    return combiner.add(KEY, CrdtType.PN_COUNTER, new Operation.Increment(1))
        != Combiner.Outcome.REFUSED;
  }

  private static long sum(List<Input.Absorbed.Update> updates) {
    long sum = 0;
    for (Input.Absorbed.Update update : updates) {
      long amount = ((Operation.Increment) update.operation()).amount();
      Interleavings.check(amount == update.count());
      sum += amount;
    }
    return sum;
  }

  @Test
  void whatIsAcknowledged_isTakenOnce_andHeldUntilItIsAbsorbed() {
    Interleavings.of(
        () -> {
          Combiner combiner = combiner();
          AtomicInteger acknowledged = new AtomicInteger();
          Runnable adder =
              () -> {
                if (increment(combiner)) {
                  acknowledged.incrementAndGet();
                }
              };
          Thread one = Interleavings.start(adder);
          Thread other = Interleavings.start(adder);
          long taken = sum(combiner.takeAll());
          combiner.absorbed();
          taken += sum(combiner.take(KEY));
          combiner.absorbed();
          List.of(one, other).forEach(Interleavings::join);
          // What is not taken is still held, and found.
          Interleavings.check(combiner.isHolding(KEY) == (taken < acknowledged.get()));
          taken += sum(combiner.takeAll());
          combiner.absorbed();
          Interleavings.check(taken == acknowledged.get() && acknowledged.get() == 2);
          Interleavings.check(!combiner.isHolding());
        });
  }

  @Test
  void whatIsAcknowledgedBeforeItCloses_isTaken_andNothingAfterwards() {
    Interleavings.of(
        () -> {
          Combiner combiner = combiner();
          List<Boolean> acknowledged = new ArrayList<>();
          Thread adder =
              Interleavings.start(
                  () -> {
                    acknowledged.add(increment(combiner));
                    acknowledged.add(increment(combiner));
                  });
          combiner.close();
          long taken = sum(combiner.takeAll());
          combiner.absorbed();
          List.of(adder).forEach(Interleavings::join);
          Interleavings.check(taken == acknowledged.stream().filter(a -> a).count());
          Interleavings.check(!combiner.isHolding());
        });
  }
}
