package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.testing.Failed;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Deadlines and deletion at three datacenters, in scenes set by hand. */
final class ExpiryRemovalTest extends ExpiryFixture {
  private static Reply expire(Cluster.Dc dc, String key, long afterMillis) {
    return dc.write(key, Operation.ANY_TYPE, new Operation.Expire(afterMillis, true));
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
    setCutOff(cluster, true);
    expire(cluster.dc("ap"), "s", 100_000);
    cluster.run(60_000);
    assertThat(exists(cluster, "us", "s")).as("hidden by what is known here").isFalse();
    assertThat(exists(cluster, "ap", "s")).isTrue();
    setCutOff(cluster, false);
    cluster.run(5_000);
    holdEverywhere(cluster, "s", "a");
    cluster.run(40_000);
    existsEverywhere(cluster, "s", false);
    assertNothingIsLeft(cluster);
  }

  /** Who starts with nothing may know one other, and hear later who else is there. */
  @ParameterizedTest
  @EnumSource
  void prolongedWhereANewcomerHearsNothing_livesOnEverywhere(
      KeyspacePolicy.Consistency consistency) {
    Cluster cluster = three(consistency);
    add(cluster.dc("ap"), "s", "a");
    cluster.run(1_000);
    expire(cluster.dc("us"), "s", 5_000);
    cluster.run(1_000);
    cluster.cut("ap", "us");
    cluster.crash("eu", List.of("us"));
    expire(cluster.dc("ap"), "s", 100_000);
    cluster.heal("eu", "us");
    cluster.run(40_000);
    assertThat(cluster.dc("eu").partition.isReady()).isTrue();
    List<String> all = cluster.names;
    cluster.input(cluster.dc("eu"), new Input.Peers(1, List.of("ap", "us"), all, false, 1));
    setCutOff(cluster, false);
    cluster.run(5_000);
    holdEverywhere(cluster, "s", "a");
    cluster.run(70_000);
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
        .is(Failed.with(ErrorCode.WRONG_TYPE));
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
    holdEverywhere(cluster, "s", "b");
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
    existsEverywhere(cluster, "s", true);
    cluster.run(1_000);
    existsEverywhere(cluster, "s", false);
    cluster.run(100_000);
    existsEverywhere(cluster, "p", true);
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
    holdEverywhere(cluster, "s", "new");
  }
}
