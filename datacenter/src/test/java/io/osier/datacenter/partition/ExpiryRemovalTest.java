package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.testing.Requests;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Deadlines and deletion at three datacenters, in scenes set by hand. */
final class ExpiryRemovalTest {
  private static final CrdtType SET = CrdtType.AW_SET;

  private static Cluster three(KeyspacePolicy.Consistency consistency) {
    Duration sla = Duration.ofMillis(200);
    return new Cluster(
        consistency == KeyspacePolicy.Consistency.CAUSAL
            ? KeyspacePolicy.causal("k", sla)
            : KeyspacePolicy.session("k", sla),
        "ap",
        "eu",
        "us");
  }

  private static void add(Cluster.Dc dc, String key, String element) {
    assertThat(dc.write(key, SET, new Operation.Add(Value.of(element))))
        .isInstanceOf(Reply.Done.class);
  }

  private static Reply expire(Cluster.Dc dc, String key, long afterMillis) {
    return dc.write(key, Operation.ANY_TYPE, new Operation.Expire(afterMillis, true));
  }

  /** What a client that reads there finds. */
  private static Reply.Answer read(Cluster.Dc dc, String key, Query query) {
    long ticket = dc.submit(Requests.read("k", Key.of(key), Optional.empty(), query));
    return (Reply.Answer) requireNonNull(dc.replies.get(ticket));
  }

  private static List<Value> elements(Cluster cluster, String name, String key) {
    Reply.Answer answer = read(cluster.dc(name), key, new Query.Whole());
    return answer.exists() ? ((Reading.Many) answer.reading().orElseThrow()).values() : List.of();
  }

  private static boolean exists(Cluster cluster, String name, String key) {
    return read(cluster.dc(name), key, new Query.Exists()).exists();
  }

  private static long updatesOf(Cluster.Dc dc) {
    return dc.journal.stream()
        .filter(s -> s.origin().equals(dc.self))
        .mapToLong(Shipment::last)
        .count();
  }

  /** Caches of clients hear of it in time, though it is removed seconds later. */
  @ParameterizedTest
  @EnumSource
  void expired_isToldAtEachDatacenterWhenItIsOver_andOnce(KeyspacePolicy.Consistency consistency) {
    Cluster cluster = three(consistency);
    List<String> told = new ArrayList<>();
    cluster.heard =
        (dc, effects) ->
            effects.whenDurable().stream()
                .filter(Effects.Visible.class::isInstance)
                .flatMap(v -> ((Effects.Visible) v).over().stream())
                .forEach(object -> told.add(dc.self.dc() + " " + object.key()));
    add(cluster.dc("us"), "before", "a");
    expire(cluster.dc("us"), "before", 1_000);
    cluster.run(1_500);
    cluster.names.forEach(name -> cluster.input(cluster.dc(name), new Input.Watched(1)));
    for (String key : List.of("s", "t", "kept")) {
      add(cluster.dc("us"), key, "a");
    }
    cluster.run(1_000);
    expire(cluster.dc("eu"), "s", 5_000);
    expire(cluster.dc("eu"), "t", 5_500);
    expire(cluster.dc("eu"), "kept", 5_200);
    cluster.run(1_000);
    cluster.dc("us").write("kept", Operation.ANY_TYPE, new Operation.Persist());
    cluster.run(3_990);
    assertThat(told).isEmpty();
    cluster.run(11);
    assertThat(told).containsExactlyInAnyOrder("ap s", "eu s", "us s");
    cluster.run(500);
    assertThat(told).hasSize(6).contains("ap t", "eu t", "us t");
    cluster.run(30_000);
    assertThat(told).hasSize(6);
    assertThat(exists(cluster, "ap", "kept")).isTrue();
  }

  private static void assertNothingIsLeft(Cluster cluster) {
    cluster.run(30_000); // and what is forgotten takes streams.forget
    cluster.contents().forEach((name, all) -> assertThat(all).as(name).isEmpty());
  }

  @ParameterizedTest
  @EnumSource
  void expired_isHiddenAtOnceEverywhere_removedByWhoGaveTheDeadline_andLeavesNothing(
      KeyspacePolicy.Consistency consistency) {
    Cluster cluster = three(consistency);
    add(cluster.dc("us"), "s", "a");
    cluster.run(1_000);
    expire(cluster.dc("eu"), "s", 5_000);
    cluster.run(4_990);
    for (String name : cluster.names) {
      assertThat(elements(cluster, name, "s")).as(name).containsExactly(Value.of("a"));
      Reading left = read(cluster.dc(name), "s", new Query.TimeToLive()).reading().orElseThrow();
      assertThat(left).isEqualTo(new Reading.Count(10));
    }
    cluster.run(10);
    for (String name : cluster.names) {
      assertThat(exists(cluster, name, "s")).as(name).isFalse();
      assertThat(elements(cluster, name, "s")).as(name).isEmpty();
    }
    assertThat(cluster.dc("ap").store.size()).as("it is there, and hidden").isEqualTo(1);
    assertNothingIsLeft(cluster);
    assertThat(updatesOf(cluster.dc("ap"))).isZero();
    assertThat(updatesOf(cluster.dc("eu"))).as("a deadline, a mark, a removal").isEqualTo(3);
    assertThat(updatesOf(cluster.dc("us"))).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource
  void prolongedWhereNobodyHears_livesOnEverywhere(KeyspacePolicy.Consistency consistency) {
    Cluster cluster = three(consistency);
    add(cluster.dc("us"), "s", "a");
    expire(cluster.dc("us"), "s", 5_000);
    cluster.run(1_000);
    cluster.cut("ap", "eu");
    cluster.cut("ap", "us");
    expire(cluster.dc("ap"), "s", 100_000);
    cluster.run(60_000);
    assertThat(exists(cluster, "us", "s")).as("hidden by what is known here").isFalse();
    assertThat(exists(cluster, "ap", "s")).isTrue();
    cluster.heal("ap", "eu");
    cluster.heal("ap", "us");
    cluster.run(5_000);
    for (String name : cluster.names) {
      assertThat(elements(cluster, name, "s")).as(name).containsExactly(Value.of("a"));
    }
    cluster.run(40_000);
    for (String name : cluster.names) {
      assertThat(exists(cluster, name, "s")).as(name).isFalse();
    }
    assertNothingIsLeft(cluster);
  }

  @ParameterizedTest
  @EnumSource
  void updateOfWhatHasExpired_beginsAnew_andStays(KeyspacePolicy.Consistency consistency) {
    Cluster cluster = three(consistency);
    add(cluster.dc("us"), "s", "old");
    expire(cluster.dc("us"), "s", 5_000);
    cluster.run(5_000);
    add(cluster.dc("ap"), "s", "new"); // before the removal
    assertThat(elements(cluster, "ap", "s")).containsExactly(Value.of("new"));
    for (int i = 0; i < 100; i++) {
      for (String name : cluster.names) {
        assertThat(elements(cluster, name, "s")).as(name).doesNotContain(Value.of("old"));
      }
      cluster.run(10);
    }
    cluster.run(60_000);
    for (String name : cluster.names) {
      assertThat(elements(cluster, name, "s")).as(name).containsExactly(Value.of("new"));
      assertThat(read(cluster.dc(name), "s", new Query.TimeToLive()).reading())
          .contains(new Reading.Count(-1));
    }
  }

  /** The key of another type is free as soon as it has expired. */
  @Test
  void keyThatHasExpired_takesAnotherType() {
    Cluster cluster = three(KeyspacePolicy.Consistency.SESSION);
    add(cluster.dc("us"), "s", "old");
    expire(cluster.dc("us"), "s", 1_000);
    cluster.run(999);
    Operation assign = new Operation.Assign(Value.of("x"));
    assertThat(cluster.dc("us").write("s", CrdtType.LWW_REGISTER, assign))
        .isInstanceOfSatisfying(
            Reply.Failure.class, f -> assertThat(f.code()).isEqualTo(ErrorCode.WRONG_TYPE));
    cluster.run(1);
    assertThat(cluster.dc("us").write("s", CrdtType.LWW_REGISTER, assign))
        .isInstanceOf(Reply.Done.class);
    assertThat(read(cluster.dc("us"), "s", new Query.Whole()).type())
        .contains(CrdtType.LWW_REGISTER);
  }

  /**
   * A clock that is far behind: what it takes for alive is removed elsewhere, but not what is new.
   */
  @ParameterizedTest
  @EnumSource
  void updateThatTheRemovalHasNotSeen_keepsTheObject(KeyspacePolicy.Consistency consistency) {
    Cluster cluster = three(consistency);
    cluster.dc("ap").skewMillis = -20_000;
    add(cluster.dc("us"), "s", "a");
    expire(cluster.dc("us"), "s", 5_000);
    ObjectId object = new ObjectId(Key.of("s"), SET);
    for (int i = 0; !requireNonNull(cluster.dc("us").store.get(object)).isBottom(); i++) {
      assertThat(i).isLessThan(20_000);
      cluster.run(1);
    }
    assertThat(exists(cluster, "us", "s")).isFalse();
    assertThat(elements(cluster, "ap", "s")).as("late").containsExactly(Value.of("a"));
    add(cluster.dc("ap"), "s", "b");
    cluster.run(60_000);
    for (String name : cluster.names) {
      assertThat(elements(cluster, name, "s")).as(name).containsExactly(Value.of("b"));
    }
  }

  @ParameterizedTest
  @EnumSource
  void ofConcurrentDeadlinesTheLatestCounts_andPersistIsTheLatest(
      KeyspacePolicy.Consistency consistency) {
    Cluster cluster = three(consistency);
    for (String key : List.of("s", "p")) {
      add(cluster.dc("us"), key, "a");
      expire(cluster.dc("us"), key, 60_000);
    }
    cluster.run(1_000);
    expire(cluster.dc("eu"), "s", 2_000);
    expire(cluster.dc("ap"), "s", 9_000);
    expire(cluster.dc("eu"), "p", 2_000);
    cluster.dc("ap").write("p", Operation.ANY_TYPE, new Operation.Persist());
    cluster.run(8_000);
    for (String name : cluster.names) {
      assertThat(exists(cluster, name, "s")).as(name).isTrue();
    }
    cluster.run(1_000);
    for (String name : cluster.names) {
      assertThat(exists(cluster, name, "s")).as(name).isFalse();
    }
    cluster.run(100_000);
    for (String name : cluster.names) {
      assertThat(exists(cluster, name, "p")).as(name).isTrue();
    }
    assertThat(cluster.isConverged()).isTrue();
  }

  /** The last element goes, and with it the deadline: what comes then is new. */
  @Test
  void emptiedObject_hasNoDeadlineAnyMore() {
    Cluster cluster = three(KeyspacePolicy.Consistency.SESSION);
    add(cluster.dc("us"), "s", "a");
    expire(cluster.dc("us"), "s", 5_000);
    cluster.dc("us").write("s", SET, new Operation.Remove(Value.of("a")));
    add(cluster.dc("us"), "s", "b");
    cluster.run(60_000);
    assertThat(elements(cluster, "ap", "s")).containsExactly(Value.of("b"));
  }

  /** Both remove what the other one left: nothing is left that could expire. */
  @Test
  void objectThatWasEmptiedTogether_isForgottenWithItsDeadline() {
    Cluster cluster = three(KeyspacePolicy.Consistency.SESSION);
    add(cluster.dc("us"), "s", "a");
    add(cluster.dc("us"), "s", "b");
    expire(cluster.dc("us"), "s", 5_000);
    cluster.run(1_000);
    cluster.dc("us").write("s", Operation.ANY_TYPE, new Operation.Persist());
    cluster.run(1_000);
    cluster.dc("us").write("s", SET, new Operation.Remove(Value.of("a")));
    cluster.dc("eu").write("s", SET, new Operation.Remove(Value.of("b")));
    assertNothingIsLeft(cluster);
  }

  @Test
  void manyAtOnce_areRemovedInSlices() {
    Cluster cluster = three(KeyspacePolicy.Consistency.SESSION);
    for (int i = 0; i < 2_000; i++) {
      add(cluster.dc("us"), "k" + i, "a");
      cluster.dc("us").write("k" + i, Operation.ANY_TYPE, new Operation.Expire(1_010_000, false));
    }
    AtomicInteger most = new AtomicInteger();
    cluster.heard =
        (dc, effects) ->
            most.accumulateAndGet(
                (int)
                    effects.records().stream()
                        .filter(
                            r ->
                                r instanceof Effects.Applied a
                                    && a.update().origin().equals(dc.self))
                        .count(),
                Math::max);
    cluster.run(11_000);
    assertThat(exists(cluster, "ap", "k7")).isFalse();
    cluster.run(3_000);
    assertThat(most).hasValueBetween(ExpiryRemoval.SLICE, ExpiryRemoval.SLICE + 1);
    assertNothingIsLeft(cluster);
  }

  /** Who gave the deadline leaves: it takes no updates any more, and others remove what expires. */
  @Test
  void whereItsDatacenterDoesNothing_othersRemoveIt() {
    Cluster cluster = three(KeyspacePolicy.Consistency.SESSION);
    add(cluster.dc("us"), "s", "a");
    expire(cluster.dc("us"), "s", 5_000);
    cluster.run(1_000);
    cluster.input(cluster.dc("us"), new Input.Retire());
    cluster.run(12_000);
    assertThat(updatesOf(cluster.dc("ap")) + updatesOf(cluster.dc("eu"))).isZero();
    cluster.run(5_000);
    assertThat(updatesOf(cluster.dc("ap")) + updatesOf(cluster.dc("eu"))).isPositive();
    assertNothingIsLeft(cluster);
  }

  @Test
  void transaction_judgesByItsBeginning_andItsCommitByThePresent() {
    Cluster cluster = three(KeyspacePolicy.Consistency.CAUSAL);
    Cluster.Dc us = cluster.dc("us");
    add(us, "s", "old");
    expire(us, "s", 5_000);
    TransactionId id = new TransactionId(1, 1);
    Request.Update update =
        new Request.Update(Key.of("s"), SET, new Operation.Add(Value.of("new")));
    assertThat(us.transact(id, 1, Request.End.OPEN, update)).isInstanceOf(Reply.Transacted.class);
    cluster.run(6_000);
    assertThat(us.read(id, 2, "s"))
        .contains(new Reading.Many(List.of(Value.of("new"), Value.of("old"))));
    us.transact(id, 3, Request.End.COMMIT);
    assertThat(elements(cluster, "us", "s")).containsExactly(Value.of("new"));
    cluster.run(60_000);
    for (String name : cluster.names) {
      assertThat(elements(cluster, name, "s")).as(name).containsExactly(Value.of("new"));
    }
  }

  // ---------------------------------------------------------------- deletion

  private static List<Operation> operations(CrdtType type) {
    Value a = Value.of("a");
    Value b = Value.of("b");
    return switch (type) {
      case PN_COUNTER, G_COUNTER -> List.of(new Operation.Increment(3));
      case LWW_REGISTER, MV_REGISTER, MIN_REGISTER, MAX_REGISTER ->
          List.of(new Operation.Assign(a));
      case STRING ->
          List.of(
              new Operation.Increment(3),
              new Operation.Assign(Value.of(7)),
              new Operation.Increment(1));
      case EW_FLAG, DW_FLAG -> List.of(new Operation.SetFlag(true), new Operation.SetFlag(false));
      case G_SET -> List.of(new Operation.Add(a));
      case AW_SET, RW_SET, LWW_SET_ADD_BIAS, LWW_SET_REMOVE_BIAS ->
          List.of(new Operation.Add(List.of(a, b)), new Operation.Remove(a));
      case OR_MAP -> {
        List<Operation> fields = new ArrayList<>();
        for (CrdtType nested : CrdtType.values()) {
          if (nested.isNestable() && nested != CrdtType.OR_MAP) {
            operations(nested)
                .forEach(o -> fields.add(new Operation.UpdateFields(new FieldId("f", nested), o)));
          }
        }
        yield fields;
      }
      case BOUNDED_COUNTER -> List.of(new Operation.Bound(0, 5, List.of()));
    };
  }

  /** What was removed from sets, flags that are off and maps of them included. */
  @ParameterizedTest
  @EnumSource
  void deleted_leavesNothingOfAnyType(KeyspacePolicy.Consistency consistency) {
    Cluster cluster = three(consistency);
    for (CrdtType type : CrdtType.values()) {
      if (type == CrdtType.BOUNDED_COUNTER) {
        continue;
      }
      for (int i = 1; i <= operations(type).size(); i++) {
        String key = type.label() + i;
        operations(type).subList(0, i).forEach(o -> cluster.dc("eu").write(key, type, o));
        cluster.run(500);
        Reply reply = cluster.dc("us").write(key, Operation.ANY_TYPE, new Operation.Delete());
        assertThat(reply).as(key).isNotInstanceOf(Reply.Failure.class);
        assertThat(exists(cluster, "us", key)).as(key).isFalse();
      }
    }
    assertNothingIsLeft(cluster);
    Reply again = cluster.dc("us").write("set1", Operation.ANY_TYPE, new Operation.Delete());
    assertThat(again).as("nothing is there").isInstanceOf(Reply.Answer.class);
    assertThat(cluster.dc("us").store.size()).isZero();
  }

  /** Both of a conflict of types, at once. */
  @ParameterizedTest
  @EnumSource
  void delete_takesWhatItSaw_ofAllTypes_andLeavesWhatIsConcurrent(
      KeyspacePolicy.Consistency consistency) {
    Cluster cluster = three(consistency);
    add(cluster.dc("eu"), "s", "a");
    cluster.dc("us").write("s", CrdtType.LWW_REGISTER, new Operation.Assign(Value.of("r")));
    cluster.run(1_000);
    add(cluster.dc("eu"), "s", "b");
    cluster.dc("ap").write("s", Operation.ANY_TYPE, new Operation.Delete());
    cluster.run(2_000);
    for (String name : cluster.names) {
      assertThat(elements(cluster, name, "s")).as(name).containsExactly(Value.of("b"));
      assertThat(cluster.dc(name).read("s", CrdtType.LWW_REGISTER))
          .isEqualTo(new Reading.Single(Optional.empty()));
    }
    cluster.run(30_000);
    assertThat(cluster.dc("eu").store.get(new ObjectId(Key.of("s"), CrdtType.LWW_REGISTER)))
        .isNull();
  }

  @Test
  void boundedCounter_isNeitherDeletedNorExpires() {
    Cluster cluster = three(KeyspacePolicy.Consistency.SESSION);
    cluster.dc("eu").write("b", CrdtType.BOUNDED_COUNTER, new Operation.Bound(0, 5, List.of()));
    for (Operation operation : List.of(new Operation.Delete(), new Operation.Expire(1_000, true))) {
      assertThat(cluster.dc("eu").write("b", Operation.ANY_TYPE, operation))
          .isInstanceOfSatisfying(
              Reply.Failure.class,
              f -> {
                assertThat(f.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
                assertThat(f.message()).contains("'b'").contains("bounded counter");
              });
    }
    assertThat(cluster.dc("eu").write("b", Operation.ANY_TYPE, new Operation.Persist()))
        .isInstanceOf(Reply.Answer.class);
    assertThat(exists(cluster, "eu", "b")).isTrue();
  }
}
