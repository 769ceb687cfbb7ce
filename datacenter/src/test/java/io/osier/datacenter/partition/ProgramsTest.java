package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.KeyspacePolicy.Propagation;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.Cluster.Dc;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Programs, in scenes set by hand. */
final class ProgramsTest extends ProgramsFixture {
  private static Call ifExists(String key, boolean expected) {
    return new Call.Test(
        key(key),
        Optional.empty(),
        new Request.Condition(List.of(), new Query.Exists(), new Reading.Flag(expected)));
  }

  @Test
  void eachCall_seesWhatThoseBeforeItHaveMade() {
    Reply.Evaluated done =
        run(
            assign("a", "4"),
            new Call.Update(
                key("a"),
                CrdtType.STRING,
                new Operation.Increment(3),
                Optional.of(new Request.Ask(true, new Query.Whole()))),
            read("a"),
            update("a", Operation.ANY_TYPE, new Operation.Delete()),
            read("a"),
            update("a", CrdtType.AW_SET, new Operation.Add(Value.of("x"))),
            read("a"));
    assertThat(done.held()).isTrue();
    assertThat(shown(done.parts().get(1))).isEqualTo(text("4"));
    assertThat(shown(done.parts().get(2))).isEqualTo(text("7"));
    assertThat(((Reply.Answer) done.parts().get(4)).exists()).isFalse();
    assertThat(shown(done.parts().get(6))).isEqualTo(new Reading.Many(List.of(Value.of("x"))));
    assertThat(done.dot()).isPresent();
  }

  @Test
  void callThatFails_leavesTheOthersDone_andItselfNothing() {
    run(update("to", CrdtType.AW_SET, new Operation.Add(Value.of("x"))));
    run(update("stock", CrdtType.BOUNDED_COUNTER, new Operation.Bound(0, 9, List.of())));
    Reply.Evaluated done =
        run(
            assign("a", "text"),
            update("a", CrdtType.STRING, new Operation.Increment(1)),
            update("a", CrdtType.PN_COUNTER, new Operation.Increment(1)),
            new Call.Rename(key("stock"), key("to"), false), // may not, once "to" is deleted
            new Call.Rename(key("a"), key("stock"), false),
            new Call.Replace(key("to"), CrdtType.STRING, new Operation.Add(Value.of("y")), false),
            assign("b", "done"));
    assertThat(code(done.parts().get(1))).isEqualTo(ErrorCode.INVALID_ARGUMENT);
    assertThat(code(done.parts().get(2))).isEqualTo(ErrorCode.WRONG_TYPE);
    assertThat(code(done.parts().get(3))).isEqualTo(ErrorCode.INVALID_ARGUMENT);
    assertThat(code(done.parts().get(4))).isEqualTo(ErrorCode.INVALID_ARGUMENT);
    assertThat(code(done.parts().get(5))).isEqualTo(ErrorCode.WRONG_TYPE);
    assertThat(shown("a")).isEqualTo(text("text"));
    assertThat(shown("b")).isEqualTo(text("done"));
    assertThat(shown("to")).isEqualTo(new Reading.Many(List.of(Value.of("x"))));
    cluster.converges(2_000);
  }

  @Test
  void testThatDoesNotHold_letsNothingBeDone_andReadsAreAnswered() {
    run(assign("a", "old"));
    long before = cluster.dc("eu").report().content().committed();
    Reply.Evaluated refused = run(assign("b", "new"), ifExists("a", false), read("a"));
    assertThat(refused.held()).isFalse();
    assertThat(refused.dot()).isEmpty();
    assertThat(((Reply.Answer) refused.parts().get(0)).exists()).as("b").isFalse();
    assertThat(((Reply.Answer) refused.parts().get(1)).exists()).as("a").isTrue();
    assertThat(shown(refused.parts().get(2))).isEqualTo(text("old"));
    assertThat(exists("b")).isFalse();
    assertThat(cluster.dc("eu").report().content().committed()).isEqualTo(before);
    assertThat(run(ifExists("c", false), assign("c", "x"), ifExists("a", true)).held()).isTrue();
    assertThat(shown("c")).as("what is tested is what was there before").isEqualTo(text("x"));
  }

  @Test
  void testThatCannotBeRead_failsTheProgram() {
    run(assign("a", "x"));
    Call test =
        new Call.Test(
            key("a"),
            Optional.of(CrdtType.AW_SET),
            new Request.Condition(
                List.of(), new Query.Contains(Value.of(1)), new Reading.Flag(false)));
    assertThat(code(reply(cluster.dc("eu"), program(List.of(), assign("b", "x"), test))))
        .isEqualTo(ErrorCode.WRONG_TYPE);
    assertThat(exists("b")).isFalse();
  }

  private VersionVector version(String key) {
    return ((Reply.Answer) run(new Call.Version(key(key))).parts().getFirst()).seen();
  }

  private boolean holds(String key, VersionVector version) {
    Call.Guard guard = new Call.Guard(key(key), version);
    return ((Reply.Evaluated) reply(cluster.dc("eu"), program(List.of(guard), read(key)))).held();
  }

  @Test
  void guard_holdsUntilTheKeyIsChanged_byWhomever() {
    assertThat(version("a")).as("absent").isEqualTo(VersionVector.EMPTY);
    assertThat(holds("a", VersionVector.EMPTY)).isTrue();
    run(assign("a", "x"));
    VersionVector first = version("a");
    assertThat(holds("a", VersionVector.EMPTY)).isFalse();
    assertThat(holds("a", first)).isTrue();
    run(assign("b", "another key"));
    assertThat(holds("a", first)).isTrue();
    run(update("a", Operation.ANY_TYPE, new Operation.Expire(60_000, true)));
    assertThat(holds("a", first)).as("a deadline is a change").isFalse();
    cluster.run(1_000);
    VersionVector second = version("a");
    run(cluster.dc("us"), update("a", CrdtType.STRING, new Operation.Increment(1)));
    run(cluster.dc("us"), assign("a", "y"));
    assertThat(holds("a", second)).as("what has not come is not seen").isTrue();
    cluster.run(1_000);
    assertThat(holds("a", second)).isFalse();
    run(update("a", Operation.ANY_TYPE, new Operation.Delete()));
    assertThat(holds("a", VersionVector.EMPTY)).as("it holds nothing").isTrue();
  }

  @Test
  void guard_ofWhatExpires_holdsUntilThen_andThenAsOfNothing() {
    run(assign("a", "x"), update("a", Operation.ANY_TYPE, new Operation.Expire(100, true)));
    VersionVector before = version("a");
    cluster.run(99);
    assertThat(holds("a", before)).isTrue();
    cluster.run(1);
    assertThat(holds("a", before)).isFalse();
    assertThat(version("a")).as("it is not removed yet").isEqualTo(VersionVector.EMPTY);
    cluster.run(60_000);
    assertThat(holds("a", VersionVector.EMPTY)).isTrue();
  }

  private static Call.Script script(Call.Steps steps, String... keys) {
    return new Call.Script(Stream.of(keys).map(Key::of).toList(), true, 0, steps);
  }

  @Test
  void script_decidesByWhatItWasAnswered_andAllIsOneCommit() {
    run(assign("a", "4"));
    List<Reply> answers = new ArrayList<>();
    Call.Steps steps =
        ask -> {
          Request.Read read =
              new Request.Read(
                  "k", key("a"), Optional.empty(), new Query.Whole(), VersionVector.EMPTY, true, 0);
          Reading found = shown(ask.apply(read));
          answers.add(ask.apply(program(List.of(), assign("b", found + "!"), read("b"))));
          Reply missed =
              ask.apply(
                  program(List.of(), ifExists("c", true), assign("b", "not done"), read("b")));
          answers.add(missed);
          Request.Condition four = new Request.Condition(List.of(), new Query.Whole(), text("4"));
          for (int i = 0; i < 2; i++) {
            answers.add(
                ask.apply(
                    new Request.Write(
                        "k",
                        key("a"),
                        CrdtType.STRING,
                        new Operation.Assign(Value.of("5")),
                        VersionVector.EMPTY,
                        0,
                        Optional.empty(),
                        Optional.of(four))));
          }
          answers.add(
              ask.apply(
                  program(List.of(new Call.Guard(key("a"), VersionVector.EMPTY)), read("a"))));
          answers.add(ask.apply(new Request.Ping()));
        };
    Reply.Evaluated done = run(assign("c1", "x"), script(steps, "a", "b", "c"), read("a"));
    String four = text("4").toString() + "!";
    assertThat(shown(((Reply.Evaluated) answers.get(0)).parts().get(1))).isEqualTo(text(four));
    Reply.Evaluated missed = (Reply.Evaluated) answers.get(1);
    assertThat(missed.held()).isFalse();
    assertThat(shown(missed.parts().get(2))).isEqualTo(text(four));
    assertThat(answers.get(2)).isInstanceOf(Reply.Done.class);
    assertThat(shown(answers.get(3))).as("it was four").isEqualTo(text("5"));
    assertThat(((Reply.Evaluated) answers.get(4)).held()).isFalse();
    assertThat(code(answers.get(5))).isEqualTo(ErrorCode.INVALID_ARGUMENT);
    assertThat(shown(done.parts().get(2))).isEqualTo(text("5"));
  }

  @Test
  void script_thatDoesNotHold_isNotRun_andOneThatThrows_isAFault() {
    Reply.Evaluated unheld =
        run(
            ifExists("a", true),
            script(
                ask -> {
                  throw new AssertionError("it is run");
                },
                "a"));
    assertThat(unheld.held()).isFalse();
    Reply.Evaluated fault =
        run(
            script(
                ask -> {
                  Reply done = ask.apply(program(List.of(), assign("a", "x")));
                  assertThat(done).isInstanceOf(Reply.Evaluated.class);
                  throw new IllegalStateException("it throws");
                },
                "a"));
    assertThat(code(fault.parts().getFirst())).isEqualTo(ErrorCode.INTERNAL);
    assertThat(shown("a")).as("what it has done").isEqualTo(text("x"));
  }

  @Test
  void script_ofTooManyCalls_isRefusedThose() {
    List<Reply> answers = new ArrayList<>();
    Call[] many = new Call[Request.PROGRAM_MAX];
    Arrays.fill(many, new Call.Version(key("a")));
    run(
        script(
            ask -> {
              for (int i = 0; i <= Call.Script.CALLS_MAX / many.length; i++) {
                answers.add(ask.apply(program(List.of(), many)));
              }
            },
            "a"));
    assertThat(answers.subList(0, answers.size() - 1))
        .allSatisfy(answer -> assertThat(answer).isInstanceOf(Reply.Evaluated.class));
    assertThat(code(answers.getLast())).isEqualTo(ErrorCode.VALUE_TOO_LARGE);
  }

  /** Whoever looks at another datacenter, at any moment, sees all of a program or nothing. */
  @Test
  void inACausalKeyspace_nobodySeesHalfOfAProgram() {
    KeyspacePolicy policy = KeyspacePolicy.causal("k", Duration.ofSeconds(2));
    Cluster causal = new Cluster(policy.with(Propagation.ADAPTIVE), "eu", "us", "ap");
    for (int i = 0; i < 400; i++) {
      causal.dc("eu").add("hot", 1); // is held before long
      causal.run(10);
    }
    causal.run(3_000);
    long before = causal.dc("us").value("hot");
    boolean waited = false;
    for (int i = 0; i < 20; i++) {
      Operation one = new Operation.Increment(1);
      run(
          causal.dc("eu"),
          update("cold", CrdtType.PN_COUNTER, one),
          update("hot", CrdtType.PN_COUNTER, one),
          update("hot", CrdtType.PN_COUNTER, one));
      for (int t = 0; t < 30; t++) {
        causal.run(10);
        long cold = causal.dc("us").value("cold");
        assertThat(causal.dc("us").value("hot")).isEqualTo(before + 2 * cold);
        waited |= cold <= i && t > 10;
      }
    }
    assertThat(waited).as("it was held").isTrue();
    causal.run(3_000);
    assertThat(causal.dc("us").value("cold")).isEqualTo(20);
    assertThat(causal.isConverged()).isTrue();
  }

  /**
   * Of two programs at one time that assign the same registers one wins, and not each by halves.
   */
  @Test
  void inACausalKeyspace_oneOfTwoProgramsWins() {
    for (Propagation propagation : Propagation.values()) {
      KeyspacePolicy policy = KeyspacePolicy.causal("k", Duration.ofMillis(400)).with(propagation);
      Cluster causal = new Cluster(policy, "eu", "us");
      for (int i = 1; i <= 20; i++) {
        for (List<String> order : List.of(List.of("eu", "x", "y"), List.of("us", "y", "x"))) {
          String dc = order.getFirst();
          Operation assign = new Operation.Assign(Value.of(dc + i));
          run(
              causal.dc(dc),
              update(order.get(1), CrdtType.LWW_REGISTER, assign),
              update("other", CrdtType.PN_COUNTER, new Operation.Increment(1)),
              update(order.get(2), CrdtType.LWW_REGISTER, assign));
        }
        for (int t = 0; t < 60; t++) {
          causal.run(11);
          for (Dc at : causal.dcs.values()) {
            assertThat(at.read("x", CrdtType.LWW_REGISTER))
                .as("%s at %s", propagation, at.self)
                .isEqualTo(at.read("y", CrdtType.LWW_REGISTER));
          }
        }
      }
      assertThat(causal.isConverged()).isTrue();
    }
  }

  @Test
  void watchers_areToldWhereAProgramEnds() {
    List<Effects.Change> told = new ArrayList<>();
    cluster.heard =
        (dc, effects) ->
            effects.whenDurable().stream()
                .filter(Effects.Visible.class::isInstance)
                .forEach(v -> told.addAll(((Effects.Visible) v).changes()));
    cluster.input(cluster.dc("eu"), new io.osier.datacenter.partition.machine.Input.Watched(1));
    run(assign("a", "1"), assign("b", "2"), assign("a", "3"), assign("c", "4"));
    assertThat(told.stream().map(c -> c.object().key().toString())).containsExactly("b", "a", "c");
    assertThat(told.stream().map(Effects.Change::ends)).containsExactly(false, false, true);
  }

  /** An object's updates become one, so that no datacenter shows the object without the second. */
  @Test
  void replacedObject_isNeverShownEmptyElsewhere() {
    Value first = Value.of("first");
    run(update("s", CrdtType.AW_SET, new Operation.Add(first)));
    cluster.run(1_000);
    run(new Call.Replace(key("s"), CrdtType.AW_SET, new Operation.Add(Value.of("second")), false));
    for (int t = 0; t < 100; t++) {
      cluster.run(5);
      assertThat(cluster.dc("us").read("s", CrdtType.AW_SET).asList()).hasSize(1);
    }
    assertThat(cluster.dc("us").read("s", CrdtType.AW_SET).asList())
        .containsExactly(Value.of("second"));
    CrdtState state =
        requireNonNull(
            cluster.dc("eu").store.get(new ObjectId(key("s"), CrdtType.AW_SET)), "it is there");
    assertThat(state.isBottom()).isFalse();
  }
}
