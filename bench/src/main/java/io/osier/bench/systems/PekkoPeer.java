package io.osier.bench.systems;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.pekko.actor.AbstractActor;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.Props;
import org.apache.pekko.cluster.Cluster;
import org.apache.pekko.cluster.MemberStatus;
import org.apache.pekko.cluster.ddata.DistributedData;
import org.apache.pekko.cluster.ddata.Key;
import org.apache.pekko.cluster.ddata.ORSet;
import org.apache.pekko.cluster.ddata.ORSetKey;
import org.apache.pekko.cluster.ddata.PNCounter;
import org.apache.pekko.cluster.ddata.PNCounterKey;
import org.apache.pekko.cluster.ddata.ReplicatedData;
import org.apache.pekko.cluster.ddata.Replicator;
import org.apache.pekko.cluster.ddata.SelfUniqueAddress;
import org.apache.pekko.pattern.Patterns;

/**
 * Three actor systems with Pekko Distributed Data. Deltas are on and leave every 200 ms, the
 * shortest that it allows: a fifth of the gossip interval, which is 1 s here (2 s by default).
 * Updates are sent to the replicator with local write consistency; the caller does not wait for
 * each, and enough are in flight to keep the replicator busy. The maximum frame size is raised, as
 * Pekko's documentation recommends, since one message carries the deltas of all changed objects.
 */
final class PekkoPeer extends PeerTarget {
  private static final String SETTINGS =
      "Pekko 1.2.1: PNCounter and ORSet, delta-crdt on, deltas every 200 ms (its minimum), gossip "
          + "interval 1 s, WriteLocal, 64 updates of each thread under way, Artery TCP, "
          + "maximum frame 4 MiB, not durable";

  /** Updates in flight of each caller; nine callers have 576. */
  private static final int UNDER_WAY = 64;

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final List<ActorSystem> systems = new ArrayList<>();

  PekkoPeer() {
    super(SETTINGS);
    for (int node = 0; node < NODES; node++) {
      systems.add(ActorSystem.create("peers", config(node)));
    }
    // The first is a cluster by itself; a node that asks too early asks again only after 10 s.
    Cluster first = Cluster.get(systems.getFirst());
    first.join(first.selfAddress());
    await(() -> up(systems.getFirst()) == 1);
    systems.subList(1, NODES).forEach(system -> Cluster.get(system).join(first.selfAddress()));
    await(() -> systems.stream().allMatch(system -> up(system) == NODES));
    // The replicators begin now, not with the first update.
    systems.forEach(DistributedData::get);
  }

  private static long up(ActorSystem system) {
    long up = 0;
    for (var member : Cluster.get(system).state().getMembers()) {
      up += member.status().equals(MemberStatus.up()) ? 1 : 0;
    }
    return up;
  }

  private Config config(int node) {
    String own =
        """
        pekko {
          # Warnings would tell of late heartbeats, which two busy cores bring about.
          loglevel = ERROR
          stdout-loglevel = ERROR
          log-dead-letters = off
          log-dead-letters-during-shutdown = off
          actor.provider = cluster
          jvm-shutdown-hooks = off
          coordinated-shutdown.exit-jvm = off
          remote.artery {
            transport = tcp
            canonical { hostname = "127.0.0.1", port = %d }
            bind { hostname = "127.0.0.1", port = %d }
            advanced.maximum-frame-size = 4 MiB
            # As many direct buffers as are in use at once; each has the size of a frame.
            advanced.buffer-pool-size = 32
          }
          cluster {
            jmx.enabled = off
            # Two busy cores: a pause is not a failure.
            failure-detector.acceptable-heartbeat-pause = 60 s
            distributed-data {
              gossip-interval = 1 s
              notify-subscribers-interval = 50 ms
              delta-crdt.enabled = on
              durable.keys = []
            }
          }
        }
        """
            .formatted(announced(node), listen(node));
    return ConfigFactory.parseString(own).withFallback(ConfigFactory.load());
  }

  @Override
  public Calls calls(int node, Config load) {
    return new PekkoCalls(systems.get(node), load);
  }

  @Override
  void closeNodes() {
    // At once, without leaving the cluster in good order, which takes seconds.
    systems.forEach(ActorSystem::terminate);
    for (ActorSystem system : systems) {
      try {
        system.getWhenTerminated().toCompletableFuture().join();
      } catch (RuntimeException e) {
        System.err.println("a Pekko node did not end well: " + e);
      }
    }
  }

  /** Receives the replicator's replies to one caller's updates. */
  private static final class Replies extends AbstractActor {
    private final Semaphore room;
    private final AtomicReference<Object> failure;

    Replies(Semaphore room, AtomicReference<Object> failure) {
      this.room = room;
      this.failure = failure;
    }

    @Override
    public Receive createReceive() {
      return receiveBuilder()
          .match(Replicator.UpdateSuccess.class, reply -> room.release())
          .matchAny(
              reply -> {
                failure.compareAndSet(null, reply);
                room.release();
              })
          .build();
    }
  }

  private static final class PekkoCalls extends PeerCalls {
    private final ActorRef replicator;
    private final SelfUniqueAddress self;
    private final ActorRef replies;
    private final Semaphore room = new Semaphore(UNDER_WAY);
    private final AtomicReference<Object> failure = new AtomicReference<>();

    /** Messages are immutable, so an increment of the same counter is always the same one. */
    private final List<Replicator.Update<PNCounter>> increments = new ArrayList<>();

    private final List<Key<ORSet<String>>> sets = new ArrayList<>();
    private final List<String> elements = new ArrayList<>();

    PekkoCalls(ActorSystem system, Config load) {
      super(load);
      DistributedData data = DistributedData.get(system);
      this.replicator = data.replicator();
      this.self = data.selfUniqueAddress();
      this.replies = system.actorOf(Props.create(Replies.class, () -> new Replies(room, failure)));
    }

    private static Key<PNCounter> counter(int counter) {
      return PNCounterKey.create("c" + counter);
    }

    private Key<ORSet<String>> set(int set) {
      return made(sets, set, n -> ORSetKey.create("s" + n));
    }

    @Override
    void increment(int counter) {
      update(
          made(
              increments,
              counter,
              n ->
                  new Replicator.Update<>(
                      counter(n),
                      PNCounter.create(),
                      Replicator.writeLocal(),
                      value -> value.increment(self, 1))));
    }

    @Override
    void add(int set, int element) {
      String name = made(elements, element, n -> "e" + n);
      update(
          new Replicator.Update<>(
              set(set), ORSet.create(), Replicator.writeLocal(), value -> value.add(self, name)));
    }

    private void update(Replicator.Update<?> update) {
      room.acquireUninterruptibly();
      replicator.tell(update, replies);
    }

    @Override
    public void close() {
      room.acquireUninterruptibly(UNDER_WAY);
      room.release(UNDER_WAY);
      Object failed = failure.getAndSet(null);
      if (failed != null) {
        throw new IllegalStateException("the replicator answered " + failed);
      }
    }

    private <T extends ReplicatedData> Optional<T> read(Key<T> key) {
      Object reply =
          Patterns.ask(replicator, new Replicator.Get<>(key, Replicator.readLocal()), PATIENCE)
              .toCompletableFuture()
              .join();
      if (reply instanceof Replicator.GetSuccess<?> found) {
        return Optional.of(found.get(key));
      }
      if (reply instanceof Replicator.NotFound<?>) {
        return Optional.empty();
      }
      throw new IllegalStateException("the replicator answered " + reply);
    }

    @Override
    public long count(int counter) {
      return read(counter(counter)).map(value -> value.getValue().longValueExact()).orElse(0L);
    }

    @Override
    public boolean has(int set, int element) {
      return read(set(set)).map(value -> value.contains("e" + element)).orElse(false);
    }
  }
}
