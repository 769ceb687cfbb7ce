package io.osier.datacenter.shard.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.frontend.RequestHandler;
import io.osier.datacenter.server.LocalAccess;
import io.osier.datacenter.shard.KeyspaceShard;
import io.osier.datacenter.shard.TestShards;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.trace.Traces;
import io.osier.protocol.Reply;
import io.osier.proxy.ClientMetrics;
import io.osier.proxy.Connection;
import io.osier.proxy.connection.InProcessConnection;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Keyspaces with homes as a datacenter shows them to clients in its own process. */
final class HomesInProcessTest {
  private static final KeyspacePolicy CARTS =
      KeyspacePolicy.session("carts", Duration.ofSeconds(2))
          .with(new Partitioning(1, Partitioning.Hash.KEY, new Homes(List.of("eu", "us"))));

  private static final Reply.KeyspaceInfo FAR = new Reply.KeyspaceInfo("far", 500, 1, false);

  private final OrderedQueue lane = new OrderedQueue();
  private final RequestHandler handler = handler("", "eu", "us");

  /** How often all keyspaces that others hold were listed. */
  private int listed;

  /** A home with all keys' counters: only what is there already is updated at once. */
  private static KeyspaceShard shard(KeyspacePolicy policy) {
    MemoryStore store = new MemoryStore();
    CrdtState empty = CrdtState.bottom(CrdtType.PN_COUNTER);
    CrdtState one =
        empty.join(empty.prepare(new Operation.Increment(1), new ReplicaId("eu", 1), 1, 0, 1, 0));
    for (String key : List.of("x", "eu:x", "us:x")) {
      store.put(new ObjectId(Key.of(key), CrdtType.PN_COUNTER), one);
    }
    PartitionPorts ports =
        new PartitionPorts(
            policy.name(),
            new PartitionRunnerFixture.Script(),
            store,
            Journal.NONE,
            (to, frame) -> {});
    PartitionRunner runner =
        TestShards.runner(
            ports, 10, PartitionRunner.Callers.COMBINE, Optional.of(policy), failure -> {});
    return TestShards.alone(policy, List.of(runner), Runnable::run);
  }

  private RequestHandler handler(String... homes) {
    Map<String, KeyspaceShard> shards = new LinkedHashMap<>();
    for (String home : homes) {
      KeyspacePolicy policy = CARTS.home(home);
      shards.put(policy.name(), shard(policy));
    }
    return TestShards.handler(
        shards,
        names -> {
          listed++;
          return new Reply.Keyspaces(
              List.of(),
              new Reply.Elsewhere(List.of(new Reply.HeldElsewhere(FAR, List.of("us"))), Map.of()));
        },
        Optional.empty());
  }

  private boolean increments(String keyspace, String key) {
    return handler.combine(
        keyspace, Key.of(key), CrdtType.PN_COUNTER, new Operation.Increment(1), lane);
  }

  /** What the session saw of the home at another datacenter, this one may lack. */
  @Test
  void updateOfAHomeThatWasElsewhere_isNot_andThoseOfTheOthersAre() {
    assertThat(increments("carts", "eu:x")).isTrue();
    assertThat(increments("carts", "us:x")).isTrue();
    lane.goesElsewhere("carts@eu");
    assertThat(increments("carts", "eu:x")).isFalse();
    assertThat(increments("carts@eu", "eu:x")).isFalse();
    assertThat(increments("carts", "us:x")).isTrue();
    assertThat(increments("carts", "x")).isTrue();
    lane.goesElsewhere("carts");
    assertThat(increments("carts", "us:x")).isTrue();
    assertThat(increments("carts", "x")).isFalse();
  }

  /** As a request it is refused. */
  @Test
  void updateByTheNameOfAnotherHome_isNot() {
    assertThat(increments("carts@eu", "eu:x")).isTrue();
    assertThat(increments("carts@us", "eu:x")).isFalse();
    assertThat(increments("carts@us", "x")).isFalse();
  }

  /** Each call looks for some, and there may be 65 of one keyspace. */
  @Test
  @SuppressWarnings("NullAway") // nothing is sent, at no time
  void keyspace_isFoundByItsName_andNotInAListOfAllThatIsMadeForIt() {
    LocalAccess here =
        new LocalAccess(new ReplicaId("eu", 1), handler, Traces.OFF, () -> true, false);
    Connection way =
        new InProcessConnection(here, ClientMetrics.NONE, null, (millis, action) -> action);
    assertThat(way.keyspace("carts@us")).isEqualTo(Reply.KeyspaceInfo.of(CARTS.home("us")));
    assertThat(listed).isZero();
    assertThat(way.keyspace("far")).isEqualTo(FAR);
    assertThat(way.keyspace("near")).isNull();
    assertThat(way.keyspaceList()).allSatisfy(k -> assertThat(way.keyspace(k.name())).isEqualTo(k));
  }
}
