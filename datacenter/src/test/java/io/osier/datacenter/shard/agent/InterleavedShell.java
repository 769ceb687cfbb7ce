package io.osier.datacenter.shard.agent;

import io.osier.adaptation.AdaptationSettings;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.memory.Budget;
import io.osier.core.time.SlewedClock;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.frontend.RequestHandler;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.server.Interleaving;
import io.osier.datacenter.server.LocalAccess;
import io.osier.datacenter.shard.KeyspaceShard;
import io.osier.datacenter.shard.TestShards;
import io.osier.datacenter.shard.agent.PartitionRunner.Callers;
import io.osier.datacenter.store.GroupCommit;
import io.osier.datacenter.store.GroupQueue;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.PartitionProgress;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.testing.ForwardingMachine;
import io.osier.datacenter.trace.Traces;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import io.osier.proxy.InProcess;
import io.osier.testing.Faked;
import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * A datacenter's shell as production composes it, between the client library and the partitions:
 * way in, keyspace, lane, combiner, runners, and, where something is kept, the queue and the writer
 * of the store with a disk that stalls and objects that must be read first. Whatever it calls hands
 * over first, so that an {@link Interleaving} draws what comes when.
 */
final class InterleavedShell implements InProcess {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final int PARTITIONS = 2;

  /** So small that groups must wait for room. */
  private static final long BUDGET_BYTES = 300;

  private static final long GROUP_BYTES = 100;
  private static final int DISK_STALLS_MAX = 6;
  private static final int RUNNER_STALLS_MAX = 60;

  private final Interleaving turns;
  private final Random random;
  private final KeyspacePolicy policy =
      KeyspacePolicy.session("shop", Duration.ofSeconds(1)).withPartitions(PARTITIONS);
  private final GroupQueue<Runnable> groups = new GroupQueue<>(new Budget("groups", BUDGET_BYTES));
  private final GroupCommit<Runnable> writer = new GroupCommit<>(groups);
  private final Queue<Runnable> reads = new ConcurrentLinkedQueue<>();
  private final List<PartitionRunner> runners = new ArrayList<>();
  private final LocalAccess access;

  /**
   * Starts the shell.
   *
   * @param callers who runs the partitions; WAIT stands for a store on a disk
   */
  InterleavedShell(Interleaving turns, Callers callers, long seed) {
    this.turns = turns;
    this.random = new Random(seed);
    boolean keeps = callers == Callers.WAIT;
    for (int i = 0; i < PARTITIONS; i++) {
      runners.add(runner(i, callers, keeps));
    }
    Executor readers = keeps ? reads::add : Runnable::run;
    KeyspaceShard shard = TestShards.alone(policy, runners, readers);
    RequestHandler handler =
        TestShards.handler(
            Map.of(policy.name(), shard), open -> new Reply.Keyspaces(List.of()), Optional.empty());
    access = new LocalAccess(SELF, handler, Traces.OFF, () -> true, false);
    runners.forEach(r -> turns.addAgent("runner", () -> ownTurn(r)));
    if (keeps) {
      turns.addAgent("disk", () -> writer.step(batch -> stall(DISK_STALLS_MAX)));
      turns.addAgent("reader 1", this::readOne);
      turns.addAgent("reader 2", this::readOne);
    }
  }

  private PartitionRunner runner(int number, Callers callers, boolean keeps) {
    ObjectStore store = keeps ? cold(new MemoryStore()) : new MemoryStore();
    Now now = new Now(System.nanoTime(), System.currentTimeMillis());
    PartitionConfig config =
        new PartitionConfig(
            SELF, List.of(), policy, number, StreamSettings.DEFAULT, AdaptationSettings.DEFAULT);
    PartitionPorts ports =
        new PartitionPorts(
            "partition " + number,
            new Handing(new Partition(config.recording(keeps), store, RecoveredState.NOTHING, now)),
            store,
            keeps ? new Kept() : Journal.NONE,
            (to, frame) -> {});
    return new PartitionRunner(
        ports,
        new Inbox(1_000),
        new SlewedClock((double) now.millis(), now.nanos()),
        e -> {},
        callers,
        GroupCommitHelp.NONE,
        Optional.of(policy));
  }

  private void stall(int turnsMax) {
    for (int i = random.nextInt(turnsMax); i > 0; i--) {
      turns.handOver();
    }
  }

  private void readOne() {
    Runnable read = reads.poll();
    if (read != null) {
      read.run();
    }
  }

  /** A store of which half of the objects must be read before they are at hand. */
  private ObjectStore cold(ObjectStore store) {
    return Faked.of(
        ObjectStore.class,
        (proxy, method, arguments) -> {
          switch (method.getName()) {
            case "isCached" -> {
              return random.nextBoolean();
            }
            case "prefetch" -> {
              stall(DISK_STALLS_MAX);
              return null;
            }
            default -> {
              try {
                return method.invoke(store, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }
          }
        });
  }

  private void ownTurn(PartitionRunner runner) {
    stall(RUNNER_STALLS_MAX); // what callers leave behind lies there for a while
    try {
      var unused = runner.ownTurn();
    } catch (Throwable e) {
      throw new IllegalStateException("a runner would stop", e);
    }
  }

  /** The partition, with a hand-over before each input. */
  private final class Handing extends ForwardingMachine {
    Handing(Partition partition) {
      super(partition);
    }

    @Override
    public void on(Input input, Now now) {
      turns.handOver();
      super.on(input, now);
    }
  }

  /** Groups go through the store's queue and writer; their content is of no matter here. */
  private final class Kept implements Journal {
    @Override
    public void append(Shipment update, CrdtState state) {}

    @Override
    public void committed(TransactionId transaction, long number) {}

    @Override
    public void commit(Optional<PartitionProgress> progress, Runnable whenDurable) {
      groups.put(whenDurable, GROUP_BYTES, whenDurable);
    }
  }

  // ---------------------------------------------------------------- the client's side

  @Override
  public ReplicaId replica() {
    return access.replica();
  }

  @Override
  public List<Reply.KeyspaceInfo> keyspaces() {
    return access.keyspaces();
  }

  @Override
  public boolean isOpen() {
    return true;
  }

  @Override
  public void send(Request request, Consumer<Reply> reply) {
    turns.handOver();
    access.send(
        request,
        answer -> {
          turns.handOver();
          reply.accept(answer);
        });
  }

  @Override
  public boolean update(String keyspace, Key key, CrdtType type, Operation operation) {
    turns.handOver();
    return access.update(keyspace, key, type, operation);
  }

  boolean isReady() {
    return runners.stream().allMatch(PartitionRunner::isReady);
  }
}
