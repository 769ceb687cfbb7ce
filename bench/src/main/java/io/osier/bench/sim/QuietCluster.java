package io.osier.bench.sim;

import static java.util.Objects.requireNonNull;

import io.osier.adaptation.AdaptationSettings;
import io.osier.bench.sim.world.Scheduler;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.ToDoubleBiFunction;

/**
 * Datacenters with one partition of one keyspace in virtual time: the state machines of production
 * with its settings, for measurements that a machine has too few cores for. Nothing fails, nothing
 * is checked, and nothing takes time but the links: an input is handled in no time, and what it
 * sends goes out at once. Two things differ from processes by that: no two inputs are handled as
 * one batch, so an operation has a frame of its own more often; and the cost policy is never told
 * what a shipment costs here, so it goes by its first guess. Not thread-safe.
 */
public final class QuietCluster {
  private static final long EPOCH_MILLIS = 1_700_000_000_000L;
  private static final long READY_NANOS_MAX = 10 * Scheduler.SECOND;

  /** More ticks than this at one time are a machine that cannot stop. */
  private static final int TICKS_AT_ONCE_MAX = 10_000;

  private final Scheduler scheduler = new Scheduler();
  private final Random random;
  private final KeyspacePolicy policy;
  private final double jitterMillis;
  private final ToDoubleBiFunction<String, String> delayMillis;
  private final Map<String, Node> nodes = new LinkedHashMap<>();
  private final Map<String, Long> lastArrivalNanos = new LinkedHashMap<>();
  private long bytes;
  private long tickets;

  /**
   * Starts the datacenters, and lets virtual time pass until all serve.
   *
   * @param dcs their names
   * @param delayMillis of the link from one to another, one way
   * @param jitterMillis added to each delay, evenly from 0 to this
   * @param seed of the jitter
   */
  public QuietCluster(
      List<String> dcs,
      KeyspacePolicy policy,
      ToDoubleBiFunction<String, String> delayMillis,
      double jitterMillis,
      long seed) {
    this.policy = policy;
    this.delayMillis = delayMillis;
    this.jitterMillis = jitterMillis;
    this.random = new Random(seed);
    for (String dc : dcs) {
      List<String> peers = dcs.stream().filter(other -> !other.equals(dc)).toList();
      nodes.put(dc, new Node(new ReplicaId(dc, 1), peers));
    }
    for (Node from : nodes.values()) {
      for (Node to : nodes.values()) {
        if (from != to) {
          from.handle(new Input.PeerUp(to.self));
        }
      }
    }
    long deadline = scheduler.nanos() + READY_NANOS_MAX;
    while (!nodes.values().stream().allMatch(n -> n.partition.isReady())) {
      if (scheduler.nanos() > deadline) {
        throw new IllegalStateException("not ready after 10 s of virtual time");
      }
      scheduler.runFor(10 * Scheduler.MILLI);
    }
  }

  /**
   * Updates an object at a datacenter, after so long.
   *
   * @throws IllegalArgumentException if that is past
   */
  public void updateIn(long afterNanos, String dc, String key, CrdtType type, Operation operation) {
    Request write =
        new Request.Write(policy.name(), Key.of(key), type, operation, VersionVector.EMPTY, 0);
    Node node = node(dc);
    scheduler.in(afterNanos, () -> node.handle(new Input.Command(++tickets, write)));
  }

  /** Lets virtual time pass. */
  public void runFor(long nanos) {
    scheduler.runFor(nanos);
  }

  /** What a datacenter holds. */
  public ObjectStore store(String dc) {
    return node(dc).store;
  }

  private Node node(String dc) {
    return requireNonNull(nodes.get(dc), dc);
  }

  /** What a datacenter's partition is doing. */
  public PartitionReport report(String dc) {
    Node node = node(dc);
    return node.partition.step(new Input.Inspect(0, 0), now()).atOnce().getFirst().report();
  }

  /** Bytes of all frames so far, as they are encoded; what a transport adds is not in it. */
  public long linkBytes() {
    return bytes;
  }

  private Now now() {
    return new Now(scheduler.nanos(), EPOCH_MILLIS + scheduler.nanos() / Scheduler.MILLI);
  }

  private void send(ReplicaId from, String to, Frame frame) {
    byte[] encoded = FrameCodec.encode(from, frame);
    bytes += encoded.length;
    double millis = delayMillis.applyAsDouble(from.dc(), to) + random.nextDouble() * jitterMillis;
    long arrival = scheduler.nanos() + (long) (millis * Scheduler.MILLI);
    // A connection keeps the order.
    arrival = lastArrivalNanos.merge(from.dc() + ">" + to, arrival, Math::max);
    Node node = node(to);
    scheduler.in(
        arrival - scheduler.nanos(),
        () -> node.handle(new Input.FromPeer(from, FrameCodec.decode(from, encoded))));
  }

  /** One datacenter. */
  private final class Node {
    private final ReplicaId self;
    private final ObjectStore store = new MemoryStore();
    private final Partition partition;
    private long plannedNanos = Long.MAX_VALUE;
    private long tickNanos;
    private int ticks;

    Node(ReplicaId self, List<String> peers) {
      this.self = self;
      this.partition =
          new Partition(
              new PartitionConfig(
                  self, peers, policy, 0, StreamSettings.DEFAULT, AdaptationSettings.DEFAULT),
              store,
              RecoveredState.NOTHING,
              now());
      plan();
    }

    void handle(Input input) {
      carryOut(partition.step(input, now()));
      plan();
    }

    /** Sees to it that the next tick comes in time. */
    private void plan() {
      long next = partition.nextTickNanos();
      long at = Math.max(next, scheduler.nanos());
      if (next == Long.MAX_VALUE || at >= plannedNanos) {
        return;
      }
      plannedNanos = at;
      scheduler.in(
          at - scheduler.nanos(),
          () -> {
            if (plannedNanos == at) {
              plannedNanos = Long.MAX_VALUE;
              tick();
            }
          });
    }

    private void tick() {
      if (partition.nextTickNanos() > scheduler.nanos()) {
        plan();
        return;
      }
      ticks = tickNanos == scheduler.nanos() ? ticks + 1 : 0;
      tickNanos = scheduler.nanos();
      if (ticks > TICKS_AT_ONCE_MAX) {
        throw new IllegalStateException(self + " wants ticks without end at one time");
      }
      handle(new Input.Tick());
    }

    private void carryOut(Effects effects) {
      for (Effects.Output output : effects.whenDurable()) {
        switch (output) {
          case Effects.Send s -> QuietCluster.this.send(self, s.to().dc(), s.frame());
          case Effects.Visible v -> {}
          case Effects.ToClient a -> {
            if (a.reply() instanceof Reply.Failure f) {
              throw new IllegalStateException(self + " refuses an update: " + f);
            }
          }
        }
      }
    }
  }
}
