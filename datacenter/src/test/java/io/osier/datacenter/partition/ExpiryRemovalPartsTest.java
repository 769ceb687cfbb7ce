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
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Deadlines of elements and fields at three datacenters, in scenes set by hand. */
final class ExpiryRemovalPartsTest {
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

  private static List<Value> values(String... elements) {
    return Arrays.stream(elements).map(Value::of).toList();
  }

  private static Operation.Expire after(long millis) {
    return new Operation.Expire(millis, true);
  }

  private static void done(Cluster.Dc dc, CrdtType type, Operation operation) {
    assertThat(dc.write("s", type, operation)).isInstanceOf(Reply.Done.class);
  }

  private static void add(Cluster.Dc dc, String... elements) {
    done(dc, SET, new Operation.Add(values(elements)));
  }

  private static void add(Cluster.Dc dc, long millis, String... elements) {
    done(
        dc,
        SET,
        new Operation.WithPartDeadlines(new Operation.Add(values(elements)), after(millis)));
  }

  private static void expire(Cluster.Dc dc, long millis, String element) {
    List<Part> parts = List.of(new Part.Element(Value.of(element)));
    done(dc, SET, new Operation.ExpireParts(parts, after(millis)));
  }

  private static Reply.Answer read(Cluster.Dc dc, Query query) {
    long ticket = dc.submit(Requests.read("k", Key.of("s"), Optional.empty(), query));
    return (Reply.Answer) requireNonNull(dc.replies.get(ticket));
  }

  private static void holds(Cluster cluster, String... elements) {
    for (String name : cluster.names) {
      Reply.Answer answer = read(cluster.dc(name), new Query.Whole());
      assertThat(answer.exists()).as(name).isEqualTo(elements.length > 0);
      List<Value> found =
          answer.exists() ? ((Reading.Many) answer.reading().orElseThrow()).values() : List.of();
      assertThat(found).as(name).isEqualTo(values(elements));
    }
  }

  private static long left(Cluster.Dc dc, String element) {
    Query query = new Query.PartTimeToLive(new Part.Element(Value.of(element)));
    return ((Reading.Count) read(dc, query).reading().orElseThrow()).value();
  }

  private static CrdtState stored(Cluster cluster, String name, CrdtType type) {
    return requireNonNull(cluster.dc(name).store.get(new ObjectId(Key.of("s"), type)));
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
    cluster.cut("ap", "eu");
    cluster.cut("ap", "us");
    expire(cluster.dc("ap"), 100_000, "a");
    cluster.run(60_000);
    assertThat(read(cluster.dc("us"), new Query.Exists()).exists())
        .as("hidden by what is known here")
        .isFalse();
    cluster.heal("ap", "eu");
    cluster.heal("ap", "us");
    cluster.run(5_000);
    holds(cluster, "a");
    cluster.run(40_000);
    holds(cluster);
    cluster.run(30_000);
    cluster.contents().forEach((name, all) -> assertThat(all).as(name).isEmpty());
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
    cluster.cut("ap", "us");
    cluster.cut("ap", "eu");
    cluster.run(200);
    expire(cluster.dc("ap"), 100_000, "b");
    cluster.run(300);
    cluster.heal("eu", "us");
    cluster.run(3_000);
    assertThat(stored(cluster, "us", SET).read(new Query.Whole()))
        .as("\"a\" is removed")
        .isEqualTo(new Reading.Many(values("b")));
    cluster.heal("ap", "us");
    cluster.heal("ap", "eu");
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

  private static void holds(Cluster.Dc dc, String... elements) {
    assertThat(read(dc, new Query.Whole()).reading()).contains(new Reading.Many(values(elements)));
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
  void manyOfOneSet_areRemovedInSlices() {
    Cluster cluster = three(KeyspacePolicy.Consistency.SESSION);
    List<Value> many = new ArrayList<>();
    for (int i = 0; i < 3_000; i++) {
      many.add(Value.of(i));
    }
    done(
        cluster.dc("us"),
        SET,
        new Operation.WithPartDeadlines(
            new Operation.Add(many), new Operation.Expire(1_010_000, false)));
    add(cluster.dc("us"), "stays");
    AtomicLong largest = new AtomicLong();
    cluster.run(11_000);
    holds(cluster, "stays");
    cluster.heard =
        (dc, effects) ->
            effects.records().stream()
                .filter(r -> r instanceof Effects.Applied a && a.update().origin().equals(dc.self))
                .map(r -> ((Effects.Applied) r).update().content())
                .forEach(c -> largest.accumulateAndGet(c.contentBytes(), Math::max));
    cluster.run(10_000);
    assertThat(largest).hasValueBetween(ExpiryRemoval.SLICE, ExpiryRemoval.SLICE * 20L);
    for (String name : cluster.names) {
      CrdtState left = stored(cluster, name, SET);
      assertThat(left.read(new Query.Size())).as(name).isEqualTo(new Reading.Count(1));
      assertThat(left.expires()).as(name).isFalse();
    }
  }

  /** Those of many sets, too: a slice is of parts, not of objects. */
  @Test
  void someOfManySets_areRemovedInSlices() {
    Cluster cluster = three(KeyspacePolicy.Consistency.SESSION);
    List<Value> some = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      some.add(Value.of(i));
    }
    Operation.Expire deadline = new Operation.Expire(1_010_000, false);
    for (int i = 0; i < 40; i++) {
      cluster
          .dc("us")
          .write(
              "many" + i, SET, new Operation.WithPartDeadlines(new Operation.Add(some), deadline));
      cluster.dc("us").write("many" + i, SET, new Operation.Add(Value.of("stays")));
    }
    cluster.run(11_000);
    AtomicLong most = new AtomicLong();
    cluster.heard =
        (dc, effects) ->
            most.accumulateAndGet(
                effects.records().stream()
                    .filter(
                        r -> r instanceof Effects.Applied a && a.update().origin().equals(dc.self))
                    .mapToLong(r -> ((Effects.Applied) r).update().content().mortalParts())
                    .sum(),
                Math::max);
    cluster.run(10_000);
    assertThat(most).hasValueBetween(60, ExpiryRemoval.SLICE);
  }

  @ParameterizedTest
  @EnumSource
  void fieldsOfAMap_expireByTheirName(KeyspacePolicy.Consistency consistency) {
    Cluster cluster = three(consistency);
    FieldId visits = new FieldId("visits", CrdtType.PN_COUNTER);
    FieldId name = new FieldId("name", CrdtType.LWW_REGISTER);
    Operation.FieldUpdate visit = new Operation.FieldUpdate(visits, new Operation.Increment(2));
    Operation.FieldUpdate call =
        new Operation.FieldUpdate(name, new Operation.Assign(Value.of("ann")));
    done(cluster.dc("us"), CrdtType.OR_MAP, new Operation.UpdateFields(List.of(visit, call)));
    cluster.run(1_000);
    done(
        cluster.dc("eu"),
        CrdtType.OR_MAP,
        new Operation.ExpireParts(List.of(new Part.Field("visits")), after(5_000)));
    cluster.run(4_999);
    Query time = new Query.PartTimeToLive(new Part.Field("visits"));
    assertThat(read(cluster.dc("ap"), time).reading()).contains(new Reading.Count(1));
    cluster.run(1);
    for (String dc : cluster.names) {
      Reading whole = read(cluster.dc(dc), new Query.Whole()).reading().orElseThrow();
      assertThat(((Reading.Fields) whole).fields().keySet()).as(dc).containsExactly(name);
    }
    done(cluster.dc("ap"), CrdtType.OR_MAP, new Operation.UpdateFields(List.of(visit)));
    cluster.run(60_000);
    for (String dc : cluster.names) {
      Reading whole = read(cluster.dc(dc), new Query.Whole()).reading().orElseThrow();
      assertThat(((Reading.Fields) whole).fields().get(visits))
          .as("%s: what had expired does not count", dc)
          .isEqualTo(new Reading.Count(2));
    }
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

  @Test
  void whatHasNoParts_refusesThem() {
    Cluster cluster = three(KeyspacePolicy.Consistency.SESSION);
    Cluster.Dc us = cluster.dc("us");
    us.write("c", CrdtType.PN_COUNTER, new Operation.Increment(1));
    add(us, "a");
    Part element = new Part.Element(Value.of("a"));
    for (Reply reply :
        List.of(
            us.write(
                "c",
                CrdtType.PN_COUNTER,
                new Operation.ExpireParts(List.of(element), after(1_000))),
            us.write("s", SET, new Operation.PersistParts(List.of(new Part.Field("f")))))) {
      assertThat(reply)
          .isInstanceOfSatisfying(
              Reply.Failure.class, f -> assertThat(f.code()).isEqualTo(ErrorCode.WRONG_TYPE));
    }
    long ticket =
        us.submit(
            Requests.read("k", Key.of("c"), Optional.empty(), new Query.PartTimeToLive(element)));
    assertThat(us.replies.get(ticket))
        .isInstanceOfSatisfying(
            Reply.Failure.class, f -> assertThat(f.code()).isEqualTo(ErrorCode.WRONG_TYPE));
  }
}
