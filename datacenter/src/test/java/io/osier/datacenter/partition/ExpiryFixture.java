package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.Reply;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A cluster of three whose objects expire, or are deleted. */
abstract class ExpiryFixture {
  static final CrdtType SET = CrdtType.AW_SET;

  static Cluster three(KeyspacePolicy.Consistency consistency) {
    Duration sla = Duration.ofMillis(200);
    return new Cluster(
        consistency == KeyspacePolicy.Consistency.CAUSAL
            ? KeyspacePolicy.causal("k", sla)
            : KeyspacePolicy.session("k", sla),
        "ap",
        "eu",
        "us");
  }

  static void add(Cluster.Dc dc, String key, String element) {
    assertThat(dc.write(key, SET, new Operation.Add(Value.of(element))))
        .isInstanceOf(Reply.Done.class);
  }

  /** What a client that reads there finds. */
  static Reply.Answer read(Cluster.Dc dc, String key, Query query) {
    long ticket = dc.submit(Requests.read("k", Key.of(key), Optional.empty(), query));
    return (Reply.Answer) requireNonNull(dc.replies.get(ticket));
  }

  static List<Value> elements(Cluster cluster, String name, String key) {
    Reply.Answer answer = read(cluster.dc(name), key, new Query.Whole());
    return answer.exists() ? ((Reading.Many) answer.reading().orElseThrow()).values() : List.of();
  }

  static boolean exists(Cluster cluster, String name, String key) {
    return read(cluster.dc(name), key, new Query.Exists()).exists();
  }

  static void holdEverywhere(Cluster cluster, String key, String element) {
    for (String name : cluster.names) {
      assertThat(elements(cluster, name, key)).as(name).containsExactly(Value.of(element));
    }
  }

  static void existsEverywhere(Cluster cluster, String key, boolean exists) {
    for (String name : cluster.names) {
      assertThat(exists(cluster, name, key)).as(name).isEqualTo(exists);
    }
  }

  /** Cuts ap off from both others, or connects it again. */
  static void setCutOff(Cluster cluster, boolean cut) {
    for (String other : List.of("eu", "us")) {
      if (cut) {
        cluster.cut("ap", other);
      } else {
        cluster.heal("ap", other);
      }
    }
  }

  static void assertNothingIsLeft(Cluster cluster) {
    cluster.run(30_000); // and what is forgotten takes streams.forget
    cluster.contents().forEach((name, all) -> assertThat(all).as(name).isEmpty());
  }
}
