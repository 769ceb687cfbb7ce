package io.osier.datacenter.frontend;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.PlacementRules;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.net.ByteBudget;
import io.osier.core.time.SlewedClock;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.datacenter.forward.Forwarder;
import io.osier.datacenter.forward.ForwardingHost;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.Waited;
import io.osier.datacenter.placement.DemandCounters;
import io.osier.datacenter.shard.KeyspaceShard;
import io.osier.datacenter.shard.TestShards;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.datacenter.shard.agent.PartitionPorts;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.datacenter.shard.agent.Phased;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.testing.Partitions;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.testing.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What clients are told of keyspaces, and who hears of their requests. */
final class RequestHandlerTest {
  private static final KeyspacePolicy SHOP = KeyspacePolicy.session("shop", Duration.ofMillis(500));
  private static final KeyspacePolicy CARTS =
      KeyspacePolicy.session("carts", Duration.ofMillis(500))
          .with(new PlacementRules(PlacementRules.Placement.ADAPTIVE, 0, List.of(), List.of()));

  private final Map<String, KeyspaceShard> open = new TreeMap<>();
  private final List<PartitionRunner> runners = new ArrayList<>();

  private final Forwarder forwarder =
      new Forwarder(
          "eu",
          new ForwardingHost() {
            @Override
            public Optional<Held> holders(String keyspace) {
              return Optional.empty();
            }

            @Override
            public boolean mayAsk(String dc) {
              return false;
            }

            @Override
            public boolean ask(String dc, byte[] content) {
              return false;
            }

            @Override
            public void later(Runnable task, long millis) {}
          },
          new ByteBudget(1 << 20),
          () -> 0,
          Runnable::run);

  private void open(KeyspacePolicy policy) {
    KeyspacePolicy one = policy.withPartitions(1);
    Now now = new Now(System.nanoTime(), System.currentTimeMillis());
    MemoryStore store = new MemoryStore();
    PartitionRunner runner =
        TestShards.runner(
            new PartitionPorts(
                policy.name(),
                Partitions.started(new ReplicaId("eu", 1), List.of(), one, store, now),
                store,
                Journal.NONE,
                (to, frame) -> {}),
            10,
            new SlewedClock((double) now.millis(), now.nanos()),
            failure -> {});
    runners.add(runner);
    open.put(policy.name(), TestShards.alone(one, List.of(runner), Runnable::run));
  }

  private RequestHandler handler(RequestHandler.Others elsewhere) {
    return TestShards.handler(open, elsewhere, Optional.of(forwarder));
  }

  @AfterEach
  void stop() {
    runners.forEach(PartitionRunner::stop);
  }

  /** Which holders they have is changed by their load: database 0 of Redis must not be. */
  @Test
  void settledOnes_areThoseWhoseHoldersDoNotFollowTheLoad() {
    open(SHOP);
    open(CARTS);
    RequestHandler handler = handler(names -> new Reply.Keyspaces(List.of()));
    assertThat(handler.keyspaces()).extracting(k -> k.name()).containsExactly("carts", "shop");
    assertThat(handler.settled()).extracting(k -> k.name()).containsExactly("shop");
  }

  @Test
  void keyspaceThatGoesOrComesMeanwhile_isToldOnce() {
    open(SHOP);
    Reply.HeldElsewhere shop =
        new Reply.HeldElsewhere(Reply.KeyspaceInfo.of(SHOP.withPartitions(1)), List.of("us"));
    KeyspaceShard held = open.get("shop");
    RequestHandler handler =
        handler(
            names -> {
              if (open.remove("shop") == null) {
                open.put("shop", held);
              }
              return names.contains("shop")
                  ? new Reply.Keyspaces(List.of())
                  : new Reply.Keyspaces(List.of(), new Reply.Elsewhere(List.of(shop), Map.of()));
            });
    for (int i = 0; i < 2; i++) {
      Reply.Keyspaces told = handler.told();
      assertThat(Reply.Elsewhere.all(told.keyspaces(), told.elsewhere()))
          .containsExactly(shop.keyspace());
      assertThat(handler.served()).containsExactly(shop.keyspace());
    }
  }

  /** Else of one in 16 requests the slow log and traces said nothing. */
  @Test
  void whoWaitsForAMeasuredAnswer_hearsHowFarTheRequestHasCome() throws Exception {
    CompletableFuture<List<String>> heard = new CompletableFuture<>();
    class Waits implements Consumer<Reply>, Phased {
      private final List<String> phases = new ArrayList<>();

      @Override
      public void accept(Reply reply) {
        phases.add(reply.getClass().getSimpleName());
        heard.complete(phases);
      }

      @Override
      public void taken(long nanos) {
        phases.add("taken");
      }

      @Override
      public void waited(Waited what) {}

      @Override
      public void executed(long nanos) {
        phases.add("executed");
      }
    }
    open(CARTS);
    DemandCounters counters = new DemandCounters();
    counters.follow(List.of("carts"));
    RequestHandler handler = handler(names -> new Reply.Keyspaces(List.of()));
    handler.countIn(counters);
    runners.getFirst().start();
    Request read =
        new Request.Read(
            "carts",
            Key.of("k"),
            Optional.of(CrdtType.PN_COUNTER),
            new Query.Whole(),
            VersionVector.EMPTY,
            true,
            0);
    handler.handle(read, new OrderedQueue(), new Waits());
    assertThat(heard.get(Patience.SECONDS, TimeUnit.SECONDS))
        .containsExactly("taken", "executed", "Answer");
    assertThat(counters.of("carts").measured()).isEqualTo(1);
  }
}
