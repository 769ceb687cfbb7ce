package io.osier.datacenter.shard.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Waited;
import io.osier.protocol.Reply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The loop around a partition, driven step by step: no thread, and the test's own time. */
final class PartitionAgentTest extends PartitionAgentFixture {
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
      offer(
          "a",
          reply -> {
            throw broken("first");
          });
      offer("b", reply -> events.add("second"));
      keepsNothing = tellsApart;
      assertThat(agent.step()).isEqualTo(2);
      groups.forEach(Runnable::run);
      agent.takeReplies().tell();
      assertThat(events).contains("Answer: first", "second", "durable");
      events.clear();
    }
  }

  /** Who is woken then finds all answers of the batch, and not one after the other. */
  @Test
  void whoIsAnswered_hearsOfTheBatchsEnd_onceAllAreAnswered() {
    class Waits implements Consumer<Reply>, Phased {
      @Override
      public void accept(Reply reply) {
        events.add("answer");
      }

      @Override
      public void taken(long nanos) {}

      @Override
      public void waited(Waited what) {}

      @Override
      public void executed(long nanos) {
        events.add("executed");
      }

      @Override
      public void told() {
        events.add("told");
      }
    }
    for (boolean tellsApart : new boolean[] {false, true}) {
      PartitionAgent agent = agent(Optional.empty(), tellsApart);
      offer("a", new Waits());
      offer("b", new ShownAnswer(reply -> {}, new Waits()));
      keepsNothing = tellsApart;
      assertThat(agent.step()).isEqualTo(2);
      groups.forEach(Runnable::run);
      agent.takeReplies().tell();
      events.removeAll(List.of("record", "group", "frame", "durable"));
      assertThat(events)
          .containsExactly("executed", "executed", "answer", "answer", "told", "told");
      events.clear();
      groups.clear();
    }
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
    PendingReplies told = agent.takeReplies();
    told.tell();
    assertThat(events).endsWith("Done a");
    events.clear();
    agent.takeReplies().tell();
    assertThat(events).as("once").isEmpty();
  }

  @Test
  void whereCallersRunIt_whatBecomesDurableLater_isAnsweredThen() {
    PartitionAgent agent = agent(Optional.empty(), true);
    offer("a");
    agent.step();
    agent.takeReplies().tell();
    assertThat(events).containsExactly("record", "group");
    groups.poll().run(); // by the same thread, as one does that helps to write
    assertThat(events).containsExactly("record", "group", "frame", "Done a", "durable");
    agent.takeReplies().tell();
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
