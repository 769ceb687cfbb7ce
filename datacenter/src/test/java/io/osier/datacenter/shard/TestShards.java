package io.osier.datacenter.shard;

import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.memory.Budget;
import io.osier.core.time.SlewedClock;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.feed.KeyspaceFeed;
import io.osier.datacenter.forward.Forwarder;
import io.osier.datacenter.frontend.RequestHandler;
import io.osier.datacenter.shard.agent.GroupCommitHelp;
import io.osier.datacenter.shard.agent.Inbox;
import io.osier.datacenter.shard.agent.PartitionPorts;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.datacenter.shard.agent.PendingAnswer;
import io.osier.datacenter.shard.agent.Time;
import io.osier.datacenter.store.StoreSettings;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.datacenter.trace.Traces;
import io.osier.propagation.host.LinkWindows;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** Keyspaces of partitions that a test has made. */
public final class TestShards {
  private static final long CHANGES_BYTES = 1 << 20;

  private TestShards() {}

  /** The keyspaces of a datacenter whose tasks are done at once, and whose frames go nowhere. */
  public static Keyspaces keyspaces(
      DatacenterConfig config, ReplicaId self, Optional<StoreService> store) {
    return new Keyspaces(
        new KeyspaceFactory.Around(
            config,
            self,
            store,
            new KeyspaceFactory.Threads(Runnable::run, PendingAnswer::run, false),
            new KeyspaceFactory.Network(
                LinkWindows.NONE, (to, keyspace, partition, frame) -> {}, dc -> 0),
            Traces.OFF,
            failure -> {}));
  }

  /** A new store, or the one that is there. */
  static StoreService store(Path dir) {
    return new StoreService(
        RocksDatabase.open(dir, Durability.NONE, "test", "eu", 1),
        new StoreSettings(Optional.of(dir), Durability.NONE, 1, 1, 1),
        dir,
        new Budget("unwritten updates", 1 << 20),
        failure -> {});
  }

  /** A runner whose thread alone runs the machine. */
  public static PartitionRunner runner(
      PartitionPorts ports, int queue, SlewedClock clock, Consumer<Throwable> onFailure) {
    return new PartitionRunner(
        ports,
        new Inbox(queue),
        clock,
        onFailure,
        PartitionRunner.Callers.WAIT,
        GroupCommitHelp.NONE,
        Optional.empty());
  }

  /** A runner in the present time, with room for so many commands. */
  public static PartitionRunner runner(
      PartitionPorts ports,
      int queue,
      PartitionRunner.Callers callers,
      Optional<KeyspacePolicy> policy,
      Consumer<Throwable> onFailure) {
    return new PartitionRunner(
        ports,
        new Inbox(queue),
        new SlewedClock(Time.wallMillis(), System.nanoTime()),
        onFailure,
        callers,
        GroupCommitHelp.NONE,
        policy);
  }

  /** What clients of keyspaces talk to; nothing of it is inspected. */
  @SuppressWarnings("NullAway")
  public static RequestHandler handler(
      Map<String, KeyspaceShard> open,
      RequestHandler.Others others,
      Optional<Forwarder> forwarder) {
    return new RequestHandler(
        open,
        null,
        (request, by) -> null,
        GroupCommitHelp.NONE,
        Optional::empty,
        others,
        forwarder,
        Optional.empty());
  }

  /** A keyspace that no other datacenter holds, and that takes updates. */
  public static KeyspaceShard alone(
      KeyspacePolicy policy, List<PartitionRunner> partitions, Executor readers) {
    KeyspacePolicy as = policy.withPartitions(partitions.size());
    KeyspaceFeed feed =
        new KeyspaceFeed(
            new ReplicaId("eu", 1),
            as.partitioning(),
            CHANGES_BYTES,
            readers,
            System::nanoTime,
            () -> 1,
            () -> {});
    feed.begin(partitions);
    UpdateGate gate =
        new UpdateGate("eu", policy.name(), List.of(), Optional.empty(), dc -> Integer.MAX_VALUE);
    return new KeyspaceShard(as, List.of(), partitions, readers, gate, feed);
  }
}
