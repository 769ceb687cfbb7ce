package io.osier.datacenter.shard;

import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.time.SlewedClock;
import io.osier.datacenter.feed.KeyspaceFeed;
import io.osier.datacenter.forward.Forwarder;
import io.osier.datacenter.frontend.RequestHandler;
import io.osier.datacenter.shard.agent.GroupCommitHelp;
import io.osier.datacenter.shard.agent.Inbox;
import io.osier.datacenter.shard.agent.PartitionPorts;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.datacenter.shard.agent.Time;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** Keyspaces of partitions that a test has made. */
public final class TestShards {
  private static final long CHANGES_BYTES = 1 << 20;

  private TestShards() {}

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
