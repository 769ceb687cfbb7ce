package io.osier.datacenter.shard.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.testing.Failed;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Answers that take long are made by others, and leave when what they show is durable. */
final class AgentLongAnswersTest extends PartitionAgentFixture {
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
      agent.takeReplies().tell();
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
    longAnswer(
        reply -> {
          throw broken("first");
        });
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
    assertThat(replies).singleElement().is(Failed.with(ErrorCode.INTERNAL));
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
}
