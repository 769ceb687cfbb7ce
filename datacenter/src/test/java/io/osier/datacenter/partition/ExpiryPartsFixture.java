package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.protocol.Reply;
import java.util.Arrays;
import java.util.List;

/** A cluster of three whose sets and maps have parts that expire. */
abstract class ExpiryPartsFixture {
  static final CrdtType SET = ExpiryFixture.SET;

  static Cluster three(KeyspacePolicy.Consistency consistency) {
    return ExpiryFixture.three(consistency);
  }

  static List<Value> values(String... elements) {
    return Arrays.stream(elements).map(Value::of).toList();
  }

  static Operation.Expire after(long millis) {
    return new Operation.Expire(millis, true);
  }

  static void done(Cluster.Dc dc, CrdtType type, Operation operation) {
    assertThat(dc.write("s", type, operation)).isInstanceOf(Reply.Done.class);
  }

  static void add(Cluster.Dc dc, String... elements) {
    done(dc, SET, new Operation.Add(values(elements)));
  }

  static void add(Cluster.Dc dc, long millis, String... elements) {
    done(
        dc,
        SET,
        new Operation.WithPartDeadlines(new Operation.Add(values(elements)), after(millis)));
  }

  static Reply.Answer read(Cluster.Dc dc, Query query) {
    return ExpiryFixture.read(dc, "s", query);
  }

  static void holds(Cluster cluster, String... elements) {
    for (String name : cluster.names) {
      Reply.Answer answer = read(cluster.dc(name), new Query.Whole());
      assertThat(answer.exists()).as(name).isEqualTo(elements.length > 0);
      List<Value> found =
          answer.exists() ? ((Reading.Many) answer.reading().orElseThrow()).values() : List.of();
      assertThat(found).as(name).isEqualTo(values(elements));
    }
  }

  static long left(Cluster.Dc dc, String element) {
    Query query = new Query.PartTimeToLive(new Part.Element(Value.of(element)));
    return ((Reading.Count) read(dc, query).reading().orElseThrow()).value();
  }

  static CrdtState stored(Cluster cluster, String name, CrdtType type) {
    return requireNonNull(cluster.dc(name).store.get(new ObjectId(Key.of("s"), type)));
  }

  static void holds(Cluster.Dc dc, String... elements) {
    assertThat(read(dc, new Query.Whole()).reading()).contains(new Reading.Many(values(elements)));
  }
}
