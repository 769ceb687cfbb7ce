package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.testing.Failed;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Parts that expire: many of them, fields of maps, and what has none. */
final class ManyExpiredPartsTest extends ExpiryPartsFixture {
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
      assertThat(reply).is(Failed.with(ErrorCode.WRONG_TYPE));
    }
    long ticket =
        us.submit(
            Requests.read("k", Key.of("c"), Optional.empty(), new Query.PartTimeToLive(element)));
    assertThat(us.replies.get(ticket)).is(Failed.with(ErrorCode.WRONG_TYPE));
  }
}
