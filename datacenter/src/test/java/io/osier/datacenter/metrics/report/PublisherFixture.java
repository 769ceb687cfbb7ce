package io.osier.datacenter.metrics.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.adaptation.AdaptationSettings;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.net.Sockets;
import io.osier.core.time.SlewedClock;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.shard.KeyspaceShard;
import io.osier.datacenter.shard.TestShards;
import io.osier.datacenter.shard.agent.PartitionPorts;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.testing.ForwardingMachine;
import io.osier.datacenter.testing.Requests;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.net.PeerListener;
import io.osier.propagation.net.PeerTransport;
import io.osier.propagation.net.ProcessIdentity;
import io.osier.propagation.net.link.PortLimits;
import io.osier.protocol.Reply;
import io.osier.testing.Patience;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A publisher of partitions that can be held up. */
abstract class PublisherFixture {
  static final ReplicaId SELF = new ReplicaId("eu", 1);
  static final int PARTITIONS = 2;

  /** A partition that can be held up, and can fail, while it is asked what it does. */
  static final class Busy extends ForwardingMachine {
    final List<Integer> asked = new CopyOnWriteArrayList<>();
    final CountDownLatch marked = new CountDownLatch(1);
    volatile CountDownLatch goOn = new CountDownLatch(0);
    volatile boolean fails;

    Busy(Partition partition) {
      super(partition);
    }

    @Override
    public void on(Input input, Now now) {
      if (input instanceof Input.Inspect inspect) {
        asked.add(inspect.hotLimit());
        try {
          assertThat(goOn.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
        if (fails) {
          throw new IllegalStateException("a broken invariant");
        }
      }
      super.on(input, now);
      if (input instanceof Input.Removed) {
        marked.countDown();
      }
    }
  }

  final KeyspacePolicy policy =
      KeyspacePolicy.session("shop", Duration.ofSeconds(1)).withPartitions(PARTITIONS);
  final List<Busy> machines = new ArrayList<>();
  final List<PartitionRunner> runners = new ArrayList<>();
  final AtomicLong wallMillis = new AtomicLong(1_000);
  final PeerTransport transport =
      new PeerTransport(
          new ProcessIdentity(SELF, "osier", 1, List.of()),
          new InetSocketAddress("127.0.0.1", 0),
          Map.of(),
          dc -> List.of(),
          PortLimits.DEFAULT,
          new PeerListener() {},
          Optional.empty(),
          Sockets.of("osier-peers", 1));
  volatile boolean clientsFail;
  volatile Callable<Boolean> whenClientsAreAsked = () -> true;
  Publisher.Source source;
  Publisher publisher;

  @BeforeEach
  void start() {
    for (int i = 0; i < PARTITIONS; i++) {
      MemoryStore store = new MemoryStore();
      PartitionConfig config =
          new PartitionConfig(
              SELF, List.of(), policy, i, StreamSettings.DEFAULT, AdaptationSettings.DEFAULT);
      Now now = new Now(System.nanoTime(), System.currentTimeMillis());
      Busy machine = new Busy(new Partition(config, store, RecoveredState.NOTHING, now));
      PartitionRunner runner =
          TestShards.runner(
              new PartitionPorts("shop-" + i, machine, store, Journal.NONE, (to, frame) -> {}),
              100,
              new SlewedClock((double) now.millis(), now.nanos()),
              failure -> {});
      machines.add(machine);
      runners.add(runner);
      runner.start();
    }
    Map<String, KeyspaceShard> keyspaces =
        Map.of("shop", TestShards.alone(policy, runners, Runnable::run));
    source =
        new Publisher.Source(
            SELF,
            "a version",
            1,
            wallMillis::get,
            keyspaces,
            transport,
            Optional.empty(),
            new Readiness(keyspaces, Optional.empty()),
            Optional::empty,
            Map::of,
            this::clients,
            () -> 0,
            Map::of,
            Map::of,
            Optional::empty);
    publisher = publisher(Patience.MILLIS, Patience.MILLIS);
  }

  /** One that looks often. */
  Publisher publisher(long askedMillis, long stopMillis) {
    return new Publisher(source, new Publisher.Limits(10, 100, askedMillis, stopMillis));
  }

  Snapshot.Clients clients() {
    try {
      assertThat(whenClientsAreAsked.call()).isTrue();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
    if (clientsFail) {
      throw new IllegalStateException("no figures of clients");
    }
    return Snapshot.Clients.NONE;
  }

  @AfterEach
  void stop() {
    machines.forEach(m -> m.goOn.countDown());
    publisher.close();
    runners.forEach(PartitionRunner::stop);
    transport.close();
  }

  /** Writes to a partition, and waits for the answer. */
  void write(int partition) throws Exception {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    runners
        .get(partition)
        .offer(
            Requests.write(
                "shop", Key.of("likes"), CrdtType.PN_COUNTER, new Operation.Increment(1)),
            reply::complete)
        .run();
    assertThat(reply.get(Patience.SECONDS, TimeUnit.SECONDS)).isInstanceOf(Reply.Done.class);
  }

  static long committed(Snapshot snapshot) {
    return snapshot.keyspaces().getFirst().sum(r -> r.content().committed());
  }

  static Snapshot next(BlockingQueue<Snapshot> heard) throws InterruptedException {
    Snapshot snapshot = heard.poll(Patience.SECONDS, TimeUnit.SECONDS);
    assertThat(snapshot).as("a snapshot in time").isNotNull();
    return snapshot;
  }

  /** Holds up a partition with the next question. */
  CountDownLatch holdUp(int partition) {
    CountDownLatch goOn = new CountDownLatch(1);
    machines.get(partition).goOn = goOn;
    return goOn;
  }
}
