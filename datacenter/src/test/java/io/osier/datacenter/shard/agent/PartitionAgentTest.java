package io.osier.datacenter.shard.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.PartitionProgress;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.testing.Requests;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The loop around a partition, driven step by step: no thread, and the test's own time. */
final class PartitionAgentTest {
  private long nanos = 1_000;
  private final List<String> events = new ArrayList<>();
  private final ArrayDeque<Runnable> groups = new ArrayDeque<>();
  private final PartitionRunnerTest.Script machine = new PartitionRunnerTest.Script();
  private final MemoryStore store = new MemoryStore();
  private final Inbox inbox = new Inbox(2);

  private final Time time =
      new Time() {
        @Override
        public long nanos() {
          return nanos;
        }

        @Override
        public long millis() {
          return now().millis();
        }

        @Override
        public Now now() {
          return new Now(nanos, nanos / 1_000_000);
        }
      };

  private boolean keepsNothing;

  /** Its groups become durable when the test says so, or at once. */
  private final Journal journal =
      new Journal() {
        @Override
        public void append(Shipment update, CrdtState state) {
          events.add("record");
        }

        @Override
        public void committed(TransactionId transaction, long number) {}

        @Override
        public void commit(Optional<PartitionProgress> progress, Runnable whenDurable) {
          events.add("group");
          if (keepsNothing) {
            whenDurable.run();
          } else {
            groups.add(whenDurable);
          }
        }
      };

  /** What takes long. */
  private final ArrayDeque<PendingAnswer> later = new ArrayDeque<>();

  private final PartitionPorts.Sender sender =
      new PartitionPorts.Sender() {
        @Override
        public void send(ReplicaId to, Frame frame) {
          events.add("frame");
        }

        @Override
        public void later(PendingAnswer answer) {
          events.add("later");
          later.add(answer);
        }
      };

  private PartitionAgent agent(Optional<Combiner> combiner, boolean tellsApart) {
    return new PartitionAgent(
        new PartitionPorts("k-0", machine, store, journal, sender),
        inbox,
        time,
        combiner,
        tellsApart,
        new PartitionAgent.Driver() {
          @Override
          public void groupIsOut() {
            events.add("durable");
          }

          @Override
          public void hasWork() {
            events.add("work");
          }

          @Override
          public void couldNotLeave(Effects.Output output, RuntimeException cause) {
            events.add(output.getClass().getSimpleName() + ": " + cause.getMessage());
          }
        });
  }

  private Inbox.Offer offer(String key) {
    return offer(key, reply -> events.add(reply.getClass().getSimpleName() + " " + key));
  }

  private Inbox.Offer offer(String key, Consumer<Reply> to) {
    Request write =
        Requests.write("k", Key.of(key), CrdtType.PN_COUNTER, new Operation.Increment(1));
    return inbox.offer(write, to);
  }

  @Test
  void step_recordsABatch_andLetsItGoWhenItIsDurable() {
    PartitionAgent agent = agent(Optional.empty(), false);
    assertThat(agent.step()).as("nothing to do").isZero();
    assertThat(offer("a")).isEqualTo(Inbox.Offer.TAKEN);
    assertThat(offer("b")).isEqualTo(Inbox.Offer.TAKEN);
    assertThat(offer("c")).isEqualTo(Inbox.Offer.FULL);
    assertThat(events).isEmpty();
    assertThat(agent.step()).isEqualTo(2);
    assertThat(events).containsExactly("record", "record", "group");
    events.clear();
    groups.poll().run();
    assertThat(events).containsExactly("frame", "Done a", "frame", "Done b", "durable");
    assertThat(groups).isEmpty();
  }

  /** A small command may make much, and all of it is kept until the batch's end. */
  @Test
  void batchThatHasMadeMuch_takesNothingMore() {
    PartitionAgent agent = agent(Optional.empty(), false);
    offer("large");
    offer("a");
    assertThat(agent.step()).isEqualTo(1);
    assertThat(machine.seen).containsExactly("large");
    assertThat(agent.step()).isEqualTo(1);
    assertThat(machine.seen).containsExactly("large", "a");
  }

  @Test
  void whatCannotLeave_isToldOf_andStopsNothingElse() {
    for (boolean tellsApart : new boolean[] {false, true}) {
      PartitionAgent agent = agent(Optional.empty(), tellsApart);
      offer("a", reply -> broken("first"));
      offer("b", reply -> events.add("second"));
      keepsNothing = tellsApart;
      assertThat(agent.step()).isEqualTo(2);
      groups.forEach(Runnable::run);
      agent.takeTold().tell();
      assertThat(events).contains("Answer: first", "second", "durable");
      events.clear();
    }
  }

  @Test
  void longAnswer_isMadeByAnother_onceItIsDurable_andTheOthersDoNotWait() {
    for (boolean tellsApart : new boolean[] {false, true}) {
      PartitionAgent agent = agent(Optional.empty(), tellsApart);
      offer("long");
      offer("a");
      keepsNothing = tellsApart;
      assertThat(agent.step()).isEqualTo(2);
      if (!tellsApart) {
        assertThat(events).containsExactly("record", "group");
        groups.poll().run();
      }
      agent.takeTold().tell();
      assertThat(events).containsSubsequence("later", "Done a").doesNotContain("Done long");
      later.poll().run();
      assertThat(events).endsWith("Done long");
      events.clear();
    }
  }

  private void longAnswer(Consumer<Reply> to) {
    PartitionAgent agent = agent(Optional.empty(), false);
    offer("long", to);
    agent.step();
    groups.poll().run();
    events.clear();
  }

  @Test
  void longAnswer_thatCannotLeave_isToldOf() {
    longAnswer(reply -> broken("first"));
    later.poll().run();
    assertThat(events).containsExactly("LongAnswer: first");
  }

  /** What its command takes is given back, too. */
  @Test
  void longAnswer_thatIsRefused_isNotMade() {
    List<Reply> replies = new ArrayList<>();
    machine.longAnswer =
        () -> {
          throw new AssertionError("is made");
        };
    longAnswer(replies::add);
    assertThat(inbox.memory().used()).isPositive();
    Reply refusal = new Reply.Failure(ErrorCode.SHUTTING_DOWN, "it stops");
    later.poll().refuse(refusal);
    assertThat(replies).containsExactly(refusal);
    assertThat(inbox.memory().used()).isZero();
  }

  @Test
  void longAnswer_thatCannotBeMade_isAFaultOfTheDatacenter() {
    List<Reply> replies = new ArrayList<>();
    machine.longAnswer =
        () -> {
          throw new StackOverflowError("deep");
        };
    longAnswer(replies::add);
    assertThatThrownBy(() -> later.poll().run()).hasMessage("deep");
    assertThat(replies)
        .singleElement()
        .isInstanceOfSatisfying(
            Reply.Failure.class, f -> assertThat(f.code()).isEqualTo(ErrorCode.INTERNAL));
    assertThat(inbox.memory().used()).isZero();
  }

  /** Whoever is told that its transaction has ended finds that it has, whatever it sends then. */
  @Test
  void longAnswer_thatEndsATransaction_isHeardByThePartitionFirst() {
    for (int waits : new int[] {0, 300}) {
      machine.longAnswer = () -> new Reply.Failure(ErrorCode.TRANSACTION_ENDED, "not kept");
      PartitionAgent agent = agent(Optional.empty(), false);
      offer(
          "step",
          reply -> {
            events.add("told");
            offer("next");
          });
      agent.step();
      groups.poll().run();
      events.clear();
      machine.seen.clear();
      for (int i = 0; i < waits; i++) { // more than are taken before the commands
        inbox.add(new Input.Retire());
      }
      later.poll().run();
      assertThat(events).containsExactly("work", "told");
      assertThat(agent.step()).isPositive();
      assertThat(machine.seen).containsSubsequence("Untold", "next");
      while (!inbox.isEmpty()) {
        agent.step();
      }
      groups.clear();
    }
  }

  @Test
  void longAnswer_ofAStep_thatIsMade_isNoWorkForThePartition() {
    PartitionAgent agent = agent(Optional.empty(), false);
    offer("step");
    agent.step();
    groups.poll().run();
    events.clear();
    later.poll().run();
    assertThat(events).containsExactly("Done step");
    assertThat(inbox.isEmpty()).isTrue();
  }

  private static void broken(String by) {
    throw new IllegalStateException(by);
  }

  @Test
  void tick_comesInTheStepThatIsDue() {
    machine.tick = 5_000;
    PartitionAgent agent = agent(Optional.empty(), false);
    assertThat(agent.dueNanos()).isEqualTo(5_000);
    nanos = 4_999;
    assertThat(agent.step()).isZero();
    machine.tick = 4_999_000; // by what it shares with others, which no input tells
    assertThat(agent.dueNanos()).as("as the step found it").isEqualTo(5_000);
    assertThat(agent.dueNanos()).as("asked anew").isEqualTo(4_999_000);
    machine.tick = 5_000;
    nanos = 5_000;
    assertThat(agent.step()).isEqualTo(1);
    assertThat(machine.seen).containsExactly("Tick");
    assertThat(agent.dueNanos()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void closedInbox_isFlushed_andDrainedWhenTheLastGroupIsOut() {
    PartitionAgent agent = agent(Optional.empty(), false);
    offer("a");
    inbox.close();
    assertThat(offer("b")).isEqualTo(Inbox.Offer.CLOSED);
    assertThat(agent.dueNanos()).as("the flush").isEqualTo(Long.MIN_VALUE);
    agent.step();
    assertThat(machine.seen).containsExactly("a", "Flush");
    assertThat(agent.dueNanos()).isEqualTo(Long.MAX_VALUE);
    assertThat(agent.isDrained()).as("its answer is not out").isFalse();
    groups.poll().run();
    assertThat(agent.step()).isZero();
    assertThat(agent.isDrained()).isTrue();
  }

  @Test
  void events_comeBeforeCommands() {
    PartitionAgent agent = agent(Optional.empty(), false);
    offer("a");
    inbox.add(new Input.PeerDown("us"));
    agent.step();
    assertThat(machine.seen).containsExactly("PeerDown", "a");
  }

  @Test
  void whereCallersRunIt_answersAreTold_afterTheStep() {
    PartitionAgent agent = agent(Optional.empty(), true);
    offer("a");
    keepsNothing = true;
    agent.step();
    assertThat(events).containsExactly("record", "group", "frame", "durable");
    Told told = agent.takeTold();
    told.tell();
    assertThat(events).endsWith("Done a");
    events.clear();
    agent.takeTold().tell();
    assertThat(events).as("once").isEmpty();
  }

  @Test
  void whereCallersRunIt_whatBecomesDurableLater_isAnsweredThen() {
    PartitionAgent agent = agent(Optional.empty(), true);
    offer("a");
    agent.step();
    agent.takeTold().tell();
    assertThat(events).containsExactly("record", "group");
    groups.poll().run(); // by the same thread, as one does that helps to write
    assertThat(events).containsExactly("record", "group", "frame", "Done a", "durable");
    agent.takeTold().tell();
    assertThat(events).hasSize(5);
  }

  @Test
  void combinedUpdates_areAbsorbedByTheStepThatIsDue() {
    Duration sla = Duration.ofMillis(500);
    List<Long> due = new ArrayList<>();
    Combiner combiner =
        new Combiner(store, KeyspacePolicy.session("k", sla), time::nanos, due::add);
    PartitionAgent agent = agent(Optional.of(combiner), true);
    Key key = Key.of("a");
    CrdtState empty = CrdtState.bottom(CrdtType.PN_COUNTER);
    Operation one = new Operation.Increment(1);
    store.put(
        new ObjectId(key, CrdtType.PN_COUNTER),
        empty.join(empty.prepare(one, new ReplicaId("eu", 1), 1, 0, 1, 0)));
    assertThat(combiner.add(key, CrdtType.PN_COUNTER, one)).isEqualTo(Combiner.Outcome.TAKEN);
    assertThat(agent.dueNanos()).isEqualTo(due.getLast());
    nanos = due.getLast() - 1;
    assertThat(agent.step()).isZero();
    nanos++;
    assertThat(agent.step()).isEqualTo(1);
    assertThat(machine.seen).containsExactly("Absorbed");
    assertThat(combiner.isHolding()).isFalse();
  }

  @Test
  void brokenMachine_leavesNothingOfItsBatch_andAllAreAnswered() {
    machine.open.countDown();
    PartitionAgent agent = agent(Optional.empty(), false);
    offer("a");
    offer("break");
    RuntimeException failure = null;
    try {
      agent.step();
    } catch (IllegalStateException e) {
      failure = e;
    }
    assertThat(failure).hasMessageContaining("break");
    assertThat(groups).isEmpty();
    offer("b");
    agent.abandon(failure);
    agent.answerWhatIsLeft(failure);
    assertThat(events).containsExactlyInAnyOrder("Failure a", "Failure break", "Failure b");
  }
}
