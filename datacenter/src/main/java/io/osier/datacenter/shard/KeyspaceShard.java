package io.osier.datacenter.shard;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.OperationLimits;
import io.osier.datacenter.feed.KeyspaceFeed;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.shard.agent.KeyspaceScan;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.datacenter.shard.agent.ShardGateway;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import io.osier.protocol.WatchRequest;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A keyspace at this datacenter: its partitions, and the checks before a request reaches one.
 * Thread-safe, except where said.
 */
public final class KeyspaceShard {
  private static final Logger LOG = LoggerFactory.getLogger(KeyspaceShard.class);

  private volatile KeyspacePolicy policy;
  private final List<PartitionRunner> partitions;

  /** The gateways of the partitions, by number. */
  private final List<ShardGateway> entrances;

  private final Executor readers;
  private final UpdateGate gate;

  private final KeyspaceFeed feed;
  private final Object life = new Object();

  /**
   * A queue for each partition, by peer: a cold object in a frame delays only frames to its own
   * partition.
   */
  private volatile Map<String, List<OrderedQueue>> lanes = Map.of();

  /**
   * @param peers the keyspace's other holders, until {@link #setPeers}
   * @param readers read objects that are not in memory
   * @param gate tells whether updates must be refused
   * @param feed tells watchers of changes
   */
  KeyspaceShard(
      KeyspacePolicy policy,
      Collection<String> peers,
      List<PartitionRunner> partitions,
      Executor readers,
      UpdateGate gate,
      KeyspaceFeed feed) {
    this.policy = policy;
    this.partitions = List.copyOf(partitions);
    boolean showsOne = policy.consistency() == KeyspacePolicy.Consistency.SESSION;
    this.entrances =
        this.partitions.stream()
            .map(p -> new ShardGateway(showsOne, p.store(), readers, p::later, p))
            .toList();
    this.readers = readers;
    this.gate = gate;
    this.feed = feed;
    makeLanes(peers);
  }

  /**
   * Sets the keyspace's other holders; its partitions are told in another way. Called by one thread
   * at a time.
   */
  void setPeers(Collection<String> peers) {
    gate.setPeers(peers);
    makeLanes(peers);
  }

  private void makeLanes(Collection<String> peers) {
    Map<String, List<OrderedQueue>> next = new HashMap<>();
    for (String dc : peers) {
      List<OrderedQueue> known = lanes.get(dc);
      next.put(
          dc, known != null ? known : partitions.stream().map(p -> new OrderedQueue()).toList());
    }
    lanes = next;
  }

  /** Returns the queue of a peer's frames to a partition; null for a datacenter that is no peer. */
  public @Nullable OrderedQueue lane(String dc, int partition) {
    List<OrderedQueue> of = lanes.get(dc);
    return of == null ? null : of.get(partition);
  }

  public KeyspacePolicy policy() {
    return policy;
  }

  /** Sets the keyspace's policy; its partitions are told in another way. */
  void configure(KeyspacePolicy changed) {
    policy = changed;
  }

  public List<PartitionRunner> partitions() {
    return partitions;
  }

  /** What tells it from another one of its name; small, so that it may be kept. */
  public Object life() {
    return life;
  }

  public UpdateGate gate() {
    return gate;
  }

  public PartitionRunner of(Key key) {
    return partitions.get(policy.partitioning().of(key));
  }

  private void checkKey(Key key) {
    if (key.length() > policy.limits().keyBytesMax()) {
      throw new OsierException(
          ErrorCode.KEY_TOO_LARGE,
          "the key has "
              + key.length()
              + " bytes; keyspace '"
              + policy.name()
              + "' allows "
              + policy.limits().keyBytesMax());
    }
  }

  private void checkOperation(CrdtType type, Operation operation) {
    OperationLimits.check(operation, policy.limits());
    if (operation instanceof Operation.Bound bound && bound.first() != 0) {
      gate.require(PeerVersions.FIRST_VALUES, () -> "bounded counters with a first value");
    }
    OperationLimits.laterType(type, operation)
        .ifPresent(t -> gate.require(PeerVersions.LATER_TYPES, () -> "objects of type " + t));
  }

  private ShardGateway to(Key key) {
    policy.partitioning().homes().check(policy.name(), key);
    return entrances.get(policy.partitioning().of(key));
  }

  /** Answers a read: at once if the session has nothing to wait for, otherwise in its turn. */
  public void read(Request.Read read, OrderedQueue lane, Consumer<Reply> reply) {
    checkKey(read.key());
    gate.checkRead();
    to(read.key()).read(read, lane, reply);
  }

  public void write(Request.Write write, OrderedQueue lane, Consumer<Reply> reply) {
    checkKey(write.key());
    checkOperation(write.type(), write.operation());
    gate.check();
    to(write.key()).write(write, lane, reply);
  }

  /** Answers reads of one partition, one by one, as {@link #read} does. */
  public void readAll(Request.ReadAll batch, OrderedQueue lane, Consumer<Reply> reply) {
    ShardGateway to = toAll(batch.reads().stream().map(Request.Fetch::key).toList());
    gate.checkRead();
    RefusedParts refused = refused(batch.reads(), read -> checkKey(read.key()));
    if (refused.parts().size() == batch.reads().size()) {
      refused.with(reply).accept(new Reply.All(List.of()));
      return;
    }
    to.readAll((Request.ReadAll) refused.without(batch), lane, refused.with(reply));
  }

  /** Executes updates of one partition, one by one. */
  public void writeAll(Request.WriteAll batch, OrderedQueue lane, Consumer<Reply> reply) {
    ShardGateway to = toAll(batch.updates().stream().map(Request.Update::key).toList());
    gate.check();
    RefusedParts refused =
        refused(
            batch.updates(),
            update -> {
              checkKey(update.key());
              checkOperation(update.type(), update.operation());
            });
    if (refused.parts().size() == batch.updates().size()) {
      refused.with(reply).accept(new Reply.All(List.of()));
      return;
    }
    BatchSlices slices =
        new BatchSlices(
            (Request.WriteAll) refused.without(batch),
            policy.limits().valueBytesMax(),
            refused.with(reply));
    for (int i = 0; i < slices.size(); i++) {
      to.writeAll(slices.slice(i), lane, slices.answerOf(i));
    }
  }

  public void evaluate(Request.Evaluate program, OrderedQueue lane, Consumer<Reply> reply) {
    Set<Key> keys = ProgramChecks.keys(program);
    ShardGateway to = toAll("a program", keys);
    keys.forEach(this::checkKey);
    program.calls().forEach(this::checkCall);
    gate.checkRead();
    if (program.isUpdate()) {
      gate.check();
    }
    to.evaluate(ProgramChecks.checked(program, this::checkCall, gate::check), keys, lane, reply);
  }

  private void checkCall(Call call) {
    switch (call) {
      case Call.Update c -> checkOperation(c.type(), c.operation());
      case Call.Replace c -> checkOperation(c.type(), c.operation());
      case Call.ExpireIf c -> checkOperation(Operation.ANY_TYPE, c.deadline());
      default -> {}
    }
  }

  /** Returns the gateway of the one partition of a batch's keys. */
  private ShardGateway toAll(List<Key> keys) {
    if (keys.isEmpty() || keys.size() > Request.BATCH_MAX) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "a batch has 1 to " + Request.BATCH_MAX + " parts, not " + keys.size());
    }
    return toAll("a batch", keys);
  }

  private ShardGateway toAll(String what, Collection<Key> keys) {
    Key some = keys.iterator().next();
    ShardGateway first = to(some);
    for (Key key : keys) {
      if (to(key) != first) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT,
            ("all keys of %s must be in one partition, and '%s' and '%s' are in different ones;"
                    + " with partitions = 1 all keys are in one, with hash = tag those with the same"
                    + " {tag}")
                .formatted(what, some, key));
      }
    }
    return first;
  }

  private static <T> RefusedParts refused(List<T> parts, Consumer<T> check) {
    SortedMap<Integer, Reply.Failure> refused = new TreeMap<>();
    for (int i = 0; i < parts.size(); i++) {
      try {
        check.accept(parts.get(i));
      } catch (OsierException e) {
        refused.put(i, new Reply.Failure(e.code(), e.reason()));
      }
    }
    return refused.isEmpty() ? RefusedParts.NONE : new RefusedParts(refused);
  }

  /**
   * Acknowledges an update in front of its partition, if that is possible.
   *
   * @return false if nothing was done and the update must go to the partition
   */
  public boolean combine(Key key, CrdtType type, Operation operation) {
    PartitionRunner partition = of(key);
    if (!partition.combines() || gate.isClosed()) {
      return false;
    }
    try {
      OperationLimits.check(operation, policy.limits());
    } catch (OsierException e) {
      return false; // the write fails with the same error
    }
    return partition.combine(key, type, operation);
  }

  /** Brings all acknowledged updates into the store, for a look at many objects. */
  public void absorbAll() {
    partitions.forEach(PartitionRunner::absorbAll);
  }

  /** Answers a request about a partition itself. */
  public void ask(int partition, Request request, Consumer<Reply> reply) {
    if (partition >= partitions.size()) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "keyspace '"
              + policy.name()
              + "' has "
              + partitions.size()
              + " partitions, numbered from 0; there is no "
              + partition);
    }
    entrances.get(partition).ask(request, reply);
  }

  public void transact(
      Request.Transact step, Request request, OrderedQueue lane, Consumer<Reply> reply) {
    if (step.updates().size() > Request.TRANSACTION_STEP_MAX
        || step.reads().size() > Request.TRANSACTION_STEP_MAX) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "a step of a transaction may have "
              + Request.TRANSACTION_STEP_MAX
              + " updates and as many reads, not more");
    }
    for (Request.Update update : step.updates()) {
      checkKey(update.key());
      checkOperation(update.type(), update.operation());
    }
    step.reads().forEach(fetch -> checkKey(fetch.key()));
    gate.checkRead();
    // Steps that only read go on when the disk is full; an earlier step may have had updates.
    boolean commitsEarlier = step.end() == Request.End.COMMIT && step.begin().isEmpty();
    if (commitsEarlier || !step.updates().isEmpty()) {
      gate.check();
    }
    entrances.getFirst().transact(step, request, lane, reply);
  }

  /** Answers a watcher when there are changes to tell. */
  public void watch(WatchRequest watch, Consumer<Reply> reply) {
    watch.key().ifPresent(this::checkKey);
    watch.key().filter(key -> !watch.prefix()).ifPresent(this::to);
    gate.checkRead();
    feed.watch(watch, reply);
  }

  /** Makes all watchers ask again: their rights may have changed. */
  public void releaseWatchers() {
    feed.release();
  }

  /** Returns the changes that watchers are told. */
  public KeyspaceFeed feed() {
    return feed;
  }

  /** Answers a scan, in a thread that may wait for the disk. */
  public void scan(ScanRequest scan, Consumer<Reply> reply) {
    gate.checkRead();
    readers.execute(
        () -> {
          try {
            if (scan.want() == ScanRequest.Want.KNOWN && entrances.size() == 1) {
              checkReady();
              entrances.getFirst().known(scan, reply);
            } else {
              reply.accept(scan(scan));
            }
          } catch (OsierException e) {
            reply.accept(new Reply.Failure(e.code(), e.reason()));
          } catch (RuntimeException e) {
            LOG.error("a scan of '{}' has failed", policy.name(), e);
            reply.accept(
                new Reply.Failure(ErrorCode.INTERNAL, "internal error in the datacenter: " + e));
          }
        });
  }

  /** Reads objects of all partitions in the order of their keys. */
  private Reply scan(ScanRequest scan) {
    checkReady();
    return KeyspaceScan.of(
        partitions.stream().map(PartitionRunner::store).toList(),
        scan,
        () -> partitions.getFirst().millis());
  }

  private void checkReady() {
    if (!partitions.stream().allMatch(PartitionRunner::isReady)) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE, "the datacenter has just started and is catching up");
    }
  }

  /**
   * Takes a peer's frame, and reads its objects from the disk before the partition's thread gets
   * it.
   */
  public void received(int partition, Input.FromPeer input, OrderedQueue lane) {
    entrances.get(partition).received(input, lane);
  }
}
