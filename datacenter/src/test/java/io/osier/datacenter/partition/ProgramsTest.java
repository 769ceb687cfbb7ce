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
import io.osier.crdt.FieldId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.Cluster.Dc;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Programs, in scenes set by hand. */
final class ProgramsTest {
  private static final KeyspacePolicy SESSION = KeyspacePolicy.session("k", Duration.ofMillis(500));

  private final Cluster cluster = new Cluster(SESSION, "eu", "us");

  private static Key key(String name) {
    return Key.of(name);
  }

  private static Call assign(String key, String text) {
    return update(key, CrdtType.STRING, new Operation.Assign(Value.of(text)));
  }

  private static Call update(String key, CrdtType type, Operation operation) {
    return new Call.Update(key(key), type, operation, Optional.empty());
  }

  private static Call read(String key) {
    return new Call.Read(key(key), Optional.empty(), new Query.Whole());
  }

  private static Call left(String key) {
    return new Call.Read(key(key), Optional.empty(), new Query.TimeToLive());
  }

  private static Call ifExists(String key, boolean expected) {
    return new Call.Test(
        key(key),
        Optional.empty(),
        new Request.Condition(List.of(), new Query.Exists(), new Reading.Flag(expected)));
  }

  private static Request.Evaluate program(List<Call.Guard> guards, Call... calls) {
    return new Request.Evaluate("k", List.of(calls), guards, VersionVector.EMPTY, 0);
  }

  private static Reply reply(Dc dc, Request request) {
    return requireNonNull(dc.replies.get(dc.submit(request)), "answered at once");
  }

  private static Reply.Evaluated run(Dc dc, Call... calls) {
    return (Reply.Evaluated) reply(dc, program(List.of(), calls));
  }

  private Reply.Evaluated run(Call... calls) {
    return run(cluster.dc("eu"), calls);
  }

  private static Reading shown(Reply part) {
    Reply.Answer answer =
        part instanceof Reply.Done d ? d.answer().orElseThrow() : (Reply.Answer) part;
    return answer.reading().orElseThrow();
  }

  private static Reading text(String text) {
    return new Reading.Single(Optional.of(Value.of(text)));
  }

  private static ErrorCode code(Reply part) {
    return ((Reply.Failure) part).code();
  }

  private Reading shown(String key) {
    return shown(run(read(key)).parts().getFirst());
  }

  private boolean exists(String key) {
    return ((Reply.Answer) run(read(key)).parts().getFirst()).exists();
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

  @Test
  void replace_leavesNothingOfWhatWasThere() {
    run(
        update("a", CrdtType.AW_SET, new Operation.Add(Value.of("x"))),
        update("a", Operation.ANY_TYPE, new Operation.Expire(60_000, true)));
    Operation assign = new Operation.Assign(Value.of("v"));
    Reply.Evaluated kept =
        run(
            new Call.Replace(key("a"), CrdtType.STRING, assign, true),
            read("a"),
            left("a"),
            new Call.Replace(key("a"), CrdtType.STRING, assign, true),
            left("a"),
            new Call.Replace(key("a"), CrdtType.STRING, assign, false),
            left("a"),
            read("a"));
    assertThat(shown(kept.parts().get(1))).isEqualTo(text("v"));
    assertThat(shown(kept.parts().get(2))).isEqualTo(new Reading.Count(60_000));
    assertThat(shown(kept.parts().get(4))).isEqualTo(new Reading.Count(60_000));
    assertThat(shown(kept.parts().get(6))).isEqualTo(new Reading.Count(-1));
    assertThat(shown(kept.parts().get(7))).isEqualTo(text("v"));
    run(update("m", CrdtType.MIN_REGISTER, new Operation.Assign(Value.of(1))));
    run(
        new Call.Replace(
            key("m"), CrdtType.MIN_REGISTER, new Operation.Assign(Value.of(5)), false));
    assertThat(shown("m")).isEqualTo(new Reading.Single(Optional.of(Value.of(5))));
  }

  /** All types that can be moved, with deadlines, and a register with values of two datacenters. */
  @Test
  void rename_movesAllThatAReaderSees() {
    FieldId both = new FieldId("both", CrdtType.MV_REGISTER);
    for (String dc : List.of("eu", "us")) {
      for (String name : List.of("map", "mv")) {
        Operation assign = new Operation.Assign(Value.of(dc));
        run(
            cluster.dc(dc),
            name.equals("mv")
                ? update(name, CrdtType.MV_REGISTER, assign)
                : update(name, CrdtType.OR_MAP, new Operation.UpdateFields(both, assign)));
      }
    }
    cluster.run(1_000);
    FieldId sum = new FieldId("sum", CrdtType.PN_COUNTER);
    FieldId inner = new FieldId("inner", CrdtType.OR_MAP);
    Operation add = new Operation.Add(List.of(Value.of(1), Value.of("x")));
    run(
        update(
            "map",
            CrdtType.OR_MAP,
            new Operation.UpdateFields(
                List.of(
                    new Operation.FieldUpdate(sum, new Operation.Increment(5)),
                    new Operation.FieldUpdate(
                        inner,
                        new Operation.UpdateFields(
                            new FieldId("set", CrdtType.LWW_SET_ADD_BIAS), add))))),
        update(
            "map",
            CrdtType.OR_MAP,
            new Operation.ExpireParts(
                List.of(new Part.Field("sum")), new Operation.Expire(70_000, true))),
        update("counter", CrdtType.PN_COUNTER, new Operation.Increment(-3)),
        update("gcounter", CrdtType.G_COUNTER, new Operation.Increment(3)),
        update("register", CrdtType.LWW_REGISTER, new Operation.Assign(Value.of(2.5))),
        update("min", CrdtType.MIN_REGISTER, new Operation.Assign(Value.of(2))),
        update("max", CrdtType.MAX_REGISTER, new Operation.Assign(Value.of(2))),
        update("ewflag", CrdtType.EW_FLAG, new Operation.SetFlag(true)),
        update("dwflag", CrdtType.DW_FLAG, new Operation.SetFlag(true)),
        update("set", CrdtType.AW_SET, add),
        update("gset", CrdtType.G_SET, add),
        update("rwset", CrdtType.RW_SET, add),
        update("lww", CrdtType.LWW_SET_REMOVE_BIAS, add),
        assign("string", "41"),
        update("string", CrdtType.STRING, new Operation.Increment(1)),
        update("string", Operation.ANY_TYPE, new Operation.Expire(60_000, true)));
    for (String name :
        List.of(
            "map",
            "mv",
            "counter",
            "gcounter",
            "register",
            "min",
            "max",
            "ewflag",
            "dwflag",
            "set",
            "gset",
            "rwset",
            "lww",
            "string")) {
      run(assign("to:" + name, "is overwritten"));
      Reply.Evaluated moved =
          run(
              read(name),
              left(name),
              new Call.Copy(key(name), key("copy:" + name), false),
              new Call.Rename(key(name), key("to:" + name), false),
              read("to:" + name),
              left("to:" + name),
              read("copy:" + name));
      List<Reply> parts = moved.parts();
      assertThat(parts.get(3)).as(name).isInstanceOf(Reply.Done.class);
      assertThat(shown(parts.get(4))).as(name).isEqualTo(shown(parts.get(0)));
      assertThat(shown(parts.get(5))).as(name).isEqualTo(shown(parts.get(1)));
      assertThat(shown(parts.get(6))).as(name).isEqualTo(shown(parts.get(0)));
      assertThat(exists(name)).as(name).isFalse();
    }
    cluster.converges(2_000);
    Reading map = cluster.dc("us").read("to:map", CrdtType.OR_MAP);
    assertThat(map.asFields().fields().get(both))
        .isEqualTo(new Reading.Many(List.of(Value.of("eu"), Value.of("us"))));
    assertThat(cluster.dc("us").read("to:mv", CrdtType.MV_REGISTER).asList()).hasSize(2);
    Query field = new Query.PartTimeToLive(new Part.Field("sum"));
    long seconds =
        shown(run(new Call.Read(key("to:map"), Optional.empty(), field)).parts().getFirst())
            .asLong();
    assertThat(seconds).isBetween(60_000L, 70_000L);
    assertThat(cluster.dc("us").read("to:gset", CrdtType.G_SET).asList()).hasSize(2);
  }

  @Test
  void renameOfWhatIsNotThere_orOntoWhatIs_doesNothing() {
    run(assign("a", "1"), assign("b", "2"));
    Reply.Evaluated none =
        run(
            new Call.Rename(key("no"), key("b"), false),
            new Call.Rename(key("a"), key("b"), true),
            new Call.Copy(key("a"), key("c"), true));
    assertThat(((Reply.Answer) none.parts().get(0)).exists()).isFalse();
    assertThat(((Reply.Answer) none.parts().get(1)).exists()).isTrue();
    assertThat(none.parts().get(2)).isInstanceOf(Reply.Done.class);
    assertThat(shown("b")).isEqualTo(text("2"));
    assertThat(shown("c")).isEqualTo(text("1"));
  }

  @Test
  void take_drawsEachElementAsOften_andTheSameBySeed() {
    List<Value> all = LongStream.range(0, 10).mapToObj(Value::of).toList();
    int[] drawn = new int[10];
    for (int seed = 0; seed < 2_000; seed++) {
      List<Value> some =
          shown(
                  run(
                          new Call.Replace(
                              key("s"), CrdtType.AW_SET, new Operation.Add(all), false),
                          new Call.Take(key("s"), CrdtType.AW_SET, 3, seed))
                      .parts()
                      .get(1))
              .asList();
      assertThat(some).hasSize(3).doesNotHaveDuplicates().isSorted();
      some.forEach(v -> drawn[all.indexOf(v)]++);
    }
    for (int count : drawn) {
      assertThat(count).isBetween(480, 720); // 600 and five times the deviation
    }
    Reply.Evaluated last =
        run(
            new Call.Take(key("s"), CrdtType.AW_SET, 100, 7),
            read("s"),
            new Call.Take(key("s"), CrdtType.AW_SET, 1, 7),
            new Call.Take(key("s"), CrdtType.STRING, 1, 7));
    assertThat(shown(last.parts().get(0)).asList()).hasSize(7);
    assertThat(((Reply.Answer) last.parts().get(1)).exists()).isFalse();
    assertThat(last.parts().get(2)).isInstanceOf(Reply.Answer.class);
    assertThat(shown(last.parts().get(2)).asList()).isEmpty();
    assertThat(code(last.parts().get(3))).isEqualTo(ErrorCode.WRONG_TYPE);
  }

  @Test
  void expireIf_goesByThePresentDeadline() {
    run(assign("a", "1"));
    Call.When[] none = {Call.When.NONE, Call.When.EARLIER};
    Call.When[] some = {Call.When.SOME, Call.When.LATER};
    Call.When[] earlier = {Call.When.SOME, Call.When.EARLIER, Call.When.EARLIER_OF_SOME};
    for (Call.When when : Call.When.values()) {
      assertThat(expires("no", 5, when)).isFalse();
      run(update("a", Operation.ANY_TYPE, new Operation.Persist()));
      assertThat(expires("a", 50, when)).as("%s", when).isEqualTo(Set.of(none).contains(when));
      run(update("a", Operation.ANY_TYPE, new Operation.Expire(10_000, true)));
      assertThat(expires("a", 50, when)).as("%s", when).isEqualTo(Set.of(some).contains(when));
      run(update("a", Operation.ANY_TYPE, new Operation.Expire(10_000, true)));
      assertThat(expires("a", 5, when)).as("%s", when).isEqualTo(Set.of(earlier).contains(when));
    }
  }

  private boolean expires(String key, long seconds, Call.When when) {
    Operation.Expire deadline = new Operation.Expire(seconds * 1_000, true);
    return run(new Call.ExpireIf(key(key), deadline, when)).parts().getFirst()
        instanceof Reply.Done;
  }

  @Test
  void rightsThatAreLacking_failTheirCallAlone() {
    run(
        update("stock", CrdtType.BOUNDED_COUNTER, new Operation.Bound(0, 100, List.of(), 10)),
        update("stock", CrdtType.BOUNDED_COUNTER, new Operation.Increment(-3)));
    cluster.run(1_000);
    Reply.Evaluated done =
        run(
            update("stock", CrdtType.BOUNDED_COUNTER, new Operation.Increment(-2)),
            update("stock", CrdtType.BOUNDED_COUNTER, new Operation.Increment(-2)),
            assign("a", "sold"));
    assertThat(done.parts().get(0)).isInstanceOf(Reply.Done.class);
    assertThat(code(done.parts().get(1))).isEqualTo(ErrorCode.NOT_ENOUGH_RIGHTS);
    assertThat(done.parts().get(2)).isInstanceOf(Reply.Done.class);
    cluster.run(1_000); // it has asked for more
    assertThat(
            run(update("stock", CrdtType.BOUNDED_COUNTER, new Operation.Increment(-2)))
                .parts()
                .getFirst())
        .isInstanceOf(Reply.Done.class);
    cluster.converges(1_000);
  }

  @Test
  void whatIsTooLargeToMove_isRefusedBeforeAnything() {
    List<Call> calls = new ArrayList<>();
    for (int i = 0; i < 31; i++) {
      String text = String.valueOf((char) ('a' + i % 26)).repeat(512 << 10);
      Value element = Value.of(i + text);
      calls.add(update("big", CrdtType.AW_SET, new Operation.Add(element)));
    }
    run(calls.toArray(Call[]::new));
    Reply.Evaluated tried =
        run(
            new Call.Copy(key("big"), key("a"), false),
            new Call.Copy(key("big"), key("b"), false),
            new Call.Copy(key("big"), key("c"), false),
            new Call.Copy(key("big"), key("d"), false),
            new Call.Copy(key("big"), key("e"), false),
            assign("x", "done again"));
    assertThat(tried.parts().get(3)).isInstanceOf(Reply.Done.class);
    assertThat(code(tried.parts().get(4))).isEqualTo(ErrorCode.VALUE_TOO_LARGE);
    assertThat(tried.parts().get(5)).isInstanceOf(Reply.Done.class);
    assertThat(exists("e")).isFalse();
  }

  /** Each append makes all of the string anew: a small program would take the heap. */
  @Test
  void whatUpdatesMakeTogether_isBounded() {
    List<Call> calls = new ArrayList<>();
    int length = (1 << 20) - 1_000;
    calls.add(assign("a", "x".repeat(length)));
    for (int i = 0; i < 150; i++) {
      calls.add(update("a", CrdtType.STRING, new Operation.Append(Value.of("y"))));
    }
    List<Reply> parts = run(calls.toArray(Call[]::new)).parts();
    assertThat(parts.subList(0, 100)).allMatch(Reply.Done.class::isInstance);
    assertThat(code(parts.getLast())).isEqualTo(ErrorCode.VALUE_TOO_LARGE);
    long done = parts.stream().filter(Reply.Done.class::isInstance).count();
    assertThat(shown("a").asValue().orElseThrow().toString()).hasSize(length + (int) done - 1);
  }

  /** What they make is made all the same: thousands of them would take the partition for long. */
  @Test
  void whatFailedCallsHaveMade_counts() {
    List<Call> calls = new ArrayList<>();
    calls.add(assign("a", "x".repeat(1 << 20)));
    Request.Ask notOfAString = new Request.Ask(false, new Query.Contains(Value.of("x")));
    for (int i = 0; i < 150; i++) {
      calls.add(
          new Call.Update(
              key("a"), CrdtType.STRING, new Operation.SetBit(i, true), Optional.of(notOfAString)));
    }
    calls.add(assign("b", "small"));
    List<Reply> parts = run(calls.toArray(Call[]::new)).parts();
    assertThat(code(parts.get(100))).isEqualTo(ErrorCode.WRONG_TYPE);
    assertThat(code(parts.get(150))).isEqualTo(ErrorCode.VALUE_TOO_LARGE);
    assertThat(code(parts.getLast())).isEqualTo(ErrorCode.VALUE_TOO_LARGE);
  }

  /** Of a transaction, too: all that it makes is there at once when it is committed. */
  @Test
  void whatATransactionMakesAnew_isBounded() {
    Cluster causal = new Cluster(KeyspacePolicy.causal("k", Duration.ofSeconds(1)), "eu");
    Dc eu = causal.dc("eu");
    eu.write("a", CrdtType.STRING, new Operation.Assign(Value.of("x".repeat(1 << 20))));
    Request.Update[] some = new Request.Update[40];
    Arrays.fill(some, new Request.Update(key("a"), CrdtType.STRING, new Operation.SetBit(7, true)));
    TransactionId id = new TransactionId(1, 1);
    assertThat(eu.transact(id, 1, Request.End.OPEN, some)).isInstanceOf(Reply.Transacted.class);
    assertThat(code(eu.transact(id, 2, Request.End.OPEN, some)))
        .isEqualTo(ErrorCode.VALUE_TOO_LARGE);
    assertThat(eu.transact(id, 2, Request.End.COMMIT, some[0]))
        .as("that step has done nothing")
        .isInstanceOf(Reply.Transacted.class);
    assertThat(eu.read("a", CrdtType.STRING).asValue().orElseThrow().toString()).startsWith("yx");
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
