package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.partition.Cluster.Dc;
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
import org.junit.jupiter.api.Test;

/** What single calls of a program do, and what is too much for one. */
final class ProgramCallsTest extends ProgramsFixture {
  private static Call left(String key) {
    return new Call.Read(key(key), Optional.empty(), new Query.TimeToLive());
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
}
