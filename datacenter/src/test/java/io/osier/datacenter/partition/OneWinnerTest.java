package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.KeyspacePolicy.Propagation;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import org.junit.jupiter.api.Test;

/**
 * There is one order of a causal keyspace's commits, and all that decides by time goes by it: of
 * concurrent transactions one wins everywhere and in everything, and never one that others had seen
 * over those that had seen it.
 */
final class OneWinnerTest {
  private static Cluster three() {
    return new Cluster(
        KeyspacePolicy.causal("k", Duration.ofMillis(100)).with(Propagation.OP), "eu", "us", "ap");
  }

  private static Request.Update assign(String key, String value) {
    return new Request.Update(
        Key.of(key), CrdtType.LWW_REGISTER, new Operation.Assign(Value.of(value)));
  }

  private static Request.Update set(CrdtType type, Operation operation) {
    return new Request.Update(Key.of(type.label()), type, operation);
  }

  private static Request.Update field(String... names) {
    List<Operation.FieldUpdate> fields = new ArrayList<>();
    for (String name : names) {
      String[] parts = name.split("=", 2);
      fields.add(
          new Operation.FieldUpdate(
              new FieldId(parts[0], CrdtType.LWW_REGISTER),
              new Operation.Assign(Value.of(parts[1]))));
    }
    return new Request.Update(Key.of("map"), CrdtType.OR_MAP, new Operation.UpdateFields(fields));
  }

  private static String value(Reading reading) {
    Optional<Value> value = ((Reading.Single) reading).value();
    return value.map(v -> ((Value.Str) v).content()).orElse("");
  }

  private static String value(Cluster cluster, String dc, String key) {
    return value(cluster.dc(dc).read(key, CrdtType.LWW_REGISTER));
  }

  private static String field(Cluster cluster, String dc, String name) {
    SortedMap<FieldId, Reading> fields =
        ((Reading.Fields) cluster.dc(dc).read("map", CrdtType.OR_MAP)).fields();
    return value(requireNonNull(fields.get(new FieldId(name, CrdtType.LWW_REGISTER)), name));
  }

  private static boolean holds(Cluster cluster, String dc, CrdtType type) {
    return !((Reading.Many) cluster.dc(dc).read(type.label(), type)).values().isEmpty();
  }

  private static void done(
      Cluster.Dc at, TransactionId id, int step, Request.End end, Request.Update... updates) {
    assertThat(at.transact(id, step, end, updates)).isInstanceOf(Reply.Transacted.class);
  }

  private static void done(Cluster.Dc at, Request.Update... updates) {
    assertThat(at.transact(updates)).isInstanceOf(Reply.Transacted.class);
  }

  @Test
  void concurrentTransactions_winOrLoseAsAWhole() {
    for (int ahead : new int[] {-1, 0, 1}) {
      Cluster cluster = three();
      cluster.dc("eu").skewMillis = ahead;
      done(
          cluster.dc("eu"),
          assign("a", "eu"),
          assign("b", "eu"),
          field("f=eu"),
          field("g=eu"),
          field("h=eu"));
      done(
          cluster.dc("us"),
          field("h=us", "g=us"),
          assign("b", "us"),
          assign("a", "us"),
          field("f=us"));
      cluster.run(1_000);
      for (String dc : cluster.names) {
        String winner = value(cluster, dc, "a");
        assertThat(winner).isEqualTo(ahead > 0 ? "eu" : ahead < 0 ? "us" : winner);
        assertThat(value(cluster, dc, "b")).as("b at %s", dc).isEqualTo(winner);
        for (String name : List.of("f", "g", "h")) {
          assertThat(field(cluster, dc, name)).as("%s at %s", name, dc).isEqualTo(winner);
        }
      }
      assertThat(cluster.isConverged()).isTrue();
    }
  }

  @Test
  void severalWritesOfOneKey_areOneOfTheirTransaction() {
    // The later of a transaction's writes replaces the earlier, and neither is later than
    // another's.
    Cluster cluster = three();
    done(
        cluster.dc("eu"),
        assign("a", "early"),
        assign("b", "eu"),
        assign("a", "earlier"),
        field("f=early", "f=earlier", "g=eu"),
        assign("a", "eu"),
        field("f=eu"));
    done(
        cluster.dc("us"),
        field("f=us", "g=early", "g=us"),
        assign("b", "early"),
        assign("b", "earlier"),
        assign("b", "us"),
        assign("a", "us"),
        field("f=us"));
    cluster.run(1_000);
    String winner = value(cluster, "ap", "a");
    assertThat(winner).isIn("eu", "us");
    assertThat(value(cluster, "ap", "b")).isEqualTo(winner);
    assertThat(field(cluster, "ap", "f")).isEqualTo(winner);
    assertThat(field(cluster, "ap", "g")).isEqualTo(winner);
    assertThat(cluster.isConverged()).isTrue();
  }

  @Test
  void setsBias_doesNotHalveATransaction() {
    // At one instant: what the sets' bias prefers must not win where the register's rule does not.
    Operation add = new Operation.Add(Value.of("x"));
    Operation remove = new Operation.Remove(Value.of("x"));
    for (CrdtType type : List.of(CrdtType.LWW_SET_ADD_BIAS, CrdtType.LWW_SET_REMOVE_BIAS)) {
      for (boolean euAdds : new boolean[] {true, false}) {
        Cluster cluster = three();
        done(
            cluster.dc("eu"),
            assign("a", euAdds ? "add" : "remove"),
            set(type, euAdds ? add : remove));
        done(
            cluster.dc("us"),
            assign("a", euAdds ? "remove" : "add"),
            set(type, euAdds ? remove : add));
        cluster.run(1_000);
        assertThat(holds(cluster, "ap", type))
            .as("%s, eu adds: %s", type, euAdds)
            .isEqualTo(value(cluster, "ap", "a").equals("add"));
      }
    }
  }

  @Test
  void laterCommitOfOneDatacenter_winsThoughItsSnapshotIsOlder() {
    Cluster cluster = three();
    TransactionId slow = new TransactionId(7, 7);
    done(cluster.dc("eu"), slow, 1, Request.End.OPEN, assign("a", "slow"));
    cluster.run(500);
    done(cluster.dc("eu"), assign("b", "quick"), assign("a", "quick"));
    cluster.run(500);
    done(cluster.dc("eu"), slow, 2, Request.End.COMMIT, assign("b", "slow"));
    cluster.run(1_000);
    for (String dc : cluster.names) {
      assertThat(value(cluster, dc, "a")).isEqualTo("slow");
      assertThat(value(cluster, dc, "b")).isEqualTo("slow");
    }
  }

  @Test
  void whatWasSeen_neverBeatsWhoSawIt_throughAThird() {
    // eu < us, as us had seen eu's; us < ap by "a", if ap wins there: then ap must win over eu,
    // too.
    Cluster cluster = three();
    cluster.dc("eu").skewMillis = 5_000;
    cluster.dc("ap").skewMillis = 1_000;
    cluster.cut("eu", "ap");
    cluster.cut("us", "ap");
    done(cluster.dc("ap"), assign("a", "ap"), assign("c", "ap"));
    done(cluster.dc("eu"), assign("c", "eu"));
    cluster.run(500);
    assertThat(value(cluster, "us", "c")).isEqualTo("eu");
    done(cluster.dc("us"), assign("a", "us"));
    cluster.heal("eu", "ap");
    cluster.heal("us", "ap");
    cluster.converges(3_000);
    boolean apBeatsUs = value(cluster, "ap", "a").equals("ap");
    boolean euBeatsAp = value(cluster, "ap", "c").equals("eu");
    assertThat(apBeatsUs && euBeatsAp).as("eu < us < ap < eu").isFalse();
  }

  @Test
  void joinedUpdates_bringTheirTime() {
    // As above, but what us sees of eu is the joined effect of updates that replaced each other.
    KeyspacePolicy policy =
        KeyspacePolicy.causal("k", Duration.ofMillis(300)).with(Propagation.STATE);
    Cluster cluster = new Cluster(policy, "eu", "us", "ap");
    cluster.dc("eu").skewMillis = 5_000;
    cluster.dc("ap").skewMillis = 1_000;
    cluster.cut("eu", "ap");
    cluster.cut("us", "ap");
    done(cluster.dc("ap"), assign("a", "ap"), field("c=ap"));
    for (int i = 0; i < 5; i++) {
      done(cluster.dc("eu"), field("c=eu", "d=" + i));
    }
    cluster.run(1_000);
    assertThat(field(cluster, "us", "c")).isEqualTo("eu");
    done(cluster.dc("us"), assign("a", "us"));
    cluster.heal("eu", "ap");
    cluster.heal("us", "ap");
    cluster.converges(3_000);
    boolean apBeatsUs = value(cluster, "ap", "a").equals("ap");
    boolean euBeatsAp = field(cluster, "ap", "c").equals("eu");
    assertThat(apBeatsUs && euBeatsAp).as("eu < us < ap < eu").isFalse();
  }
}
