package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Deadlines of elements and fields at three datacenters, in scenes set by hand. */
final class ExpiryRemovalPartsTest extends ExpiryPartsFixture {
  private static void expire(Cluster.Dc dc, long millis, String element) {
    List<Part> parts = List.of(new Part.Element(Value.of(element)));
    done(dc, SET, new Operation.ExpireParts(parts, after(millis)));
  }

  @ParameterizedTest
  @EnumSource
  void expiredElement_isHiddenAtOnceEverywhere_andRemovedSoon_theOthersStay(
      KeyspacePolicy.Consistency consistency) {
    Cluster cluster = three(consistency);
    add(cluster.dc("us"), "stays");
    cluster.run(1_000);
    add(cluster.dc("eu"), 5_000, "goes");
    cluster.run(4_990);
    holds(cluster, "goes", "stays");
    for (String name : cluster.names) {
      assertThat(left(cluster.dc(name), "goes")).as(name).isEqualTo(10);
      assertThat(left(cluster.dc(name), "stays")).as(name).isEqualTo(-1);
      assertThat(left(cluster.dc(name), "absent")).as(name).isEqualTo(-1);
      assertThat(read(cluster.dc(name), new Query.UntilExpiry()).reading())
          .contains(new Reading.Count(10));
      assertThat(read(cluster.dc(name), new Query.TimeToLive()).reading())
          .contains(new Reading.Count(-1));
    }
    cluster.run(10);
    holds(cluster, "stays");
    for (String name : cluster.names) {
      assertThat(read(cluster.dc(name), new Query.Size()).reading()).contains(new Reading.Count(1));
      assertThat(read(cluster.dc(name), new Query.Contains(Value.of("goes"))).reading())
          .contains(new Reading.Flag(false));
      assertThat(left(cluster.dc(name), "goes")).as(name).isEqualTo(-1);
    }
    assertThat(stored(cluster, "ap", SET).read(new Query.Size()))
        .as("it is there, and hidden")
        .isEqualTo(new Reading.Count(2));
    cluster.run(10_000);
    holds(cluster, "stays");
    for (String name : cluster.names) {
      assertThat(stored(cluster, name, SET).read(new Query.Size())).isEqualTo(new Reading.Count(1));
      assertThat(stored(cluster, name, SET).expires()).as(name).isFalse();
    }
    assertThat(cluster.isConverged()).isTrue();
  }

  /** Then there is nothing, of no type, and nothing is kept. */
  @ParameterizedTest
  @EnumSource
  void whoseElementsHaveAllExpired_isGone(KeyspacePolicy.Consistency consistency) {
    Cluster cluster = three(consistency);
    add(cluster.dc("us"), 1_000, "a");
    add(cluster.dc("eu"), 2_000, "b");
    cluster.run(2_000);
    holds(cluster);
    Operation assign = new Operation.Assign(Value.of("x"));
    done(cluster.dc("us"), CrdtType.LWW_REGISTER, assign);
    cluster.run(1_000);
    cluster.dc("us").write("s", Operation.ANY_TYPE, new Operation.Delete());
    cluster.run(40_000);
    cluster.contents().forEach((name, all) -> assertThat(all).as(name).isEmpty());
  }

  @ParameterizedTest
  @EnumSource
  void prolongedWhereNobodyHears_livesOnEverywhere(KeyspacePolicy.Consistency consistency) {
    Cluster cluster = three(consistency);
    add(cluster.dc("us"), 5_000, "a", "b");
    cluster.run(1_000);
    ExpiryFixture.setCutOff(cluster, true);
    expire(cluster.dc("ap"), 100_000, "a");
    cluster.run(60_000);
    assertThat(read(cluster.dc("us"), new Query.Exists()).exists())
        .as("hidden by what is known here")
        .isFalse();
    ExpiryFixture.setCutOff(cluster, false);
    cluster.run(5_000);
    holds(cluster, "a");
    cluster.run(40_000);
    holds(cluster);
    ExpiryFixture.assertNothingIsLeft(cluster);
  }

  /** Of one part it is known that nobody had prolonged it, and not of another one. */
  @Test
  void partWhoseDeadlineCameLater_isNotRemovedWithTheFirst() {
    Cluster cluster = three(KeyspacePolicy.Consistency.SESSION);
    add(cluster.dc("us"), 5_000, "a");
    add(cluster.dc("us"), 8_300, "b");
    cluster.run(6_900);
    cluster.cut("eu", "us");
    cluster.run(1_100); // ap has heard of the end of "a", and eu has not
    ExpiryFixture.setCutOff(cluster, true);
    cluster.run(200);
    expire(cluster.dc("ap"), 100_000, "b");
    cluster.run(300);
    cluster.heal("eu", "us");
    cluster.run(3_000);
    assertThat(stored(cluster, "us", SET).read(new Query.Whole()))
        .as("\"a\" is removed")
        .isEqualTo(new Reading.Many(values("b")));
    ExpiryFixture.setCutOff(cluster, false);
    cluster.run(5_000);
    holds(cluster, "b");
  }

  @ParameterizedTest
  @EnumSource
  void addedAfterItHasExpired_isNew_andStays(KeyspacePolicy.Consistency consistency) {
    Cluster cluster = three(consistency);
    add(cluster.dc("us"), 5_000, "a", "b");
    cluster.run(5_000);
    add(cluster.dc("ap"), "a"); // before the removal
    assertThat(left(cluster.dc("ap"), "a")).isEqualTo(-1);
    cluster.run(60_000);
    holds(cluster, "a");
    assertThat(left(cluster.dc("eu"), "a")).isEqualTo(-1);
  }

  /** Adding what is there keeps its deadline, as an update of an object keeps the object's. */
  @Test
  void addedBeforeItExpires_keepsItsDeadline_untilItIsPersisted() {
    Cluster cluster = three(KeyspacePolicy.Consistency.SESSION);
    add(cluster.dc("us"), 5_000, "a", "b");
    add(cluster.dc("us"), "a", "b");
    assertThat(left(cluster.dc("us"), "a")).isEqualTo(5_000);
    done(
        cluster.dc("us"),
        SET,
        new Operation.PersistParts(List.of(new Part.Element(Value.of("a")))));
    assertThat(left(cluster.dc("us"), "a")).isEqualTo(-1);
    cluster.run(60_000);
    holds(cluster, "a");
  }

  @Test
  void removedElement_hasNoDeadlineAnyMore() {
    Cluster cluster = three(KeyspacePolicy.Consistency.SESSION);
    add(cluster.dc("us"), "stays");
    add(cluster.dc("us"), 5_000, "a");
    done(cluster.dc("us"), SET, new Operation.Remove(Value.of("a")));
    add(cluster.dc("us"), "a");
    cluster.run(60_000);
    holds(cluster, "a", "stays");
  }

  /** A deadline is left whose element is not there: nobody sees it, and it goes. */
  @ParameterizedTest
  @EnumSource
  void removedWhereItsDeadlineWasNotSeen_leavesNothing(KeyspacePolicy.Consistency consistency) {
    Cluster cluster = three(consistency);
    add(cluster.dc("us"), "a", "stays");
    cluster.run(1_000);
    expire(cluster.dc("us"), 1_000_000, "a");
    done(cluster.dc("eu"), SET, new Operation.Remove(Value.of("a")));
    for (int i = 0; stored(cluster, "ap", SET).overAt() > 0; i++) {
      assertThat(i).as("it is swept, but not before it has been there").isLessThan(1_000);
      cluster.run(1);
    }
    cluster.run(20_000);
    for (String name : cluster.names) {
      assertThat(stored(cluster, name, SET).expires()).as(name).isFalse();
    }
    add(cluster.dc("ap"), "a");
    assertThat(left(cluster.dc("ap"), "a")).isEqualTo(-1);
    holds(cluster.dc("ap"), "a", "stays");
  }

  /** The object ends earlier than its element would. */
  @Test
  void objectThatExpires_takesItsPartsAlong() {
    Cluster cluster = three(KeyspacePolicy.Consistency.SESSION);
    add(cluster.dc("us"), 50_000, "a");
    add(cluster.dc("us"), "b");
    cluster.dc("us").write("s", Operation.ANY_TYPE, after(2_000));
    cluster.run(2_000);
    holds(cluster);
    add(cluster.dc("us"), "a");
    assertThat(left(cluster.dc("us"), "a")).isEqualTo(-1);
    cluster.run(90_000);
    holds(cluster, "a");
  }

  /** What is added is the first of a new object, before or after the sweep. */
  @Test
  void addedAfterAllElementsHaveExpired_doesNotGetTheFormerDeadline() {
    Cluster cluster = three(KeyspacePolicy.Consistency.SESSION);
    add(cluster.dc("us"), 1_000, "a", "b");
    cluster.dc("us").write("s", Operation.ANY_TYPE, after(90_000));
    cluster.run(1_000);
    add(cluster.dc("eu"), "c");
    assertThat(read(cluster.dc("eu"), new Query.TimeToLive()).reading())
        .contains(new Reading.Count(-1));
    cluster.run(100_000);
    holds(cluster, "c");
  }

  @Test
  void transaction_judgesPartsByItsBeginning_andItsCommitByThePresent() {
    Cluster cluster = three(KeyspacePolicy.Consistency.CAUSAL);
    Cluster.Dc us = cluster.dc("us");
    add(us, 5_000, "a", "b");
    TransactionId id = new TransactionId(1, 1);
    Request.Update update =
        new Request.Update(Key.of("s"), SET, new Operation.Add(values("a", "c")));
    assertThat(us.transact(id, 1, Request.End.OPEN, update)).isInstanceOf(Reply.Transacted.class);
    cluster.run(6_000);
    assertThat(us.read(id, 2, "s")).contains(new Reading.Many(values("a", "b", "c")));
    us.transact(id, 3, Request.End.COMMIT);
    holds(us, "a", "c");
    cluster.run(60_000);
    holds(cluster, "a", "c");
  }
}
