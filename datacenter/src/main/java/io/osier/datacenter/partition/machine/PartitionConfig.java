package io.osier.datacenter.partition.machine;

import io.osier.adaptation.AdaptationSettings;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.datacenter.partition.Partition;
import io.osier.propagation.host.LinkWindows;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.UpdateObserver;
import java.util.List;

/**
 * The settings of a {@link Partition}.
 *
 * @param peers the names of the other datacenters that hold the keyspace
 * @param partition its number, 0 to the policy's partitions − 1
 * @param streams bounds and times of the streams
 * @param adaptation settings of the adaptation; used only with adaptive propagation
 * @param endedTransactions how many ended transactions are remembered
 * @param memory what a causal partition may take in the heap besides its streams
 * @param recording whether somebody keeps records: if not, its effects have none
 * @param links the windows that it shares with other partitions
 * @param observer observes single updates
 */
public record PartitionConfig(
    ReplicaId self,
    List<String> peers,
    KeyspacePolicy policy,
    int partition,
    StreamSettings streams,
    AdaptationSettings adaptation,
    int endedTransactions,
    Memory memory,
    boolean recording,
    LinkWindows links,
    UpdateObserver observer) {
  /** How many transactions may be open at once, of all users. */
  public static final int OPEN_TRANSACTIONS_MAX = 10_000;

  /** How many ended transactions are remembered, unless set otherwise. */
  static final int ENDED_TRANSACTIONS_MAX = 100_000;

  /**
   * What a {@code causal} partition may take in the heap besides its streams, in bytes.
   *
   * @param history for former values; when it is spent, the oldest are dropped early, and then the
   *     oldest open transactions aborted
   * @param transactions for open transactions; when it is spent, further updates in them are
   *     refused
   * @param ended for ended transactions; when it is spent, the oldest are forgotten
   */
  public record Memory(long history, long transactions, long ended) {
    /** 32 MiB each. */
    public static final Memory DEFAULT = new Memory(32L << 20, 32L << 20, 32L << 20);
  }

  public PartitionConfig {
    peers = List.copyOf(peers);
  }

  /** A configuration that remembers the usual number of ended transactions and keeps records. */
  public PartitionConfig(
      ReplicaId self,
      List<String> peers,
      KeyspacePolicy policy,
      int partition,
      StreamSettings streams,
      AdaptationSettings adaptation) {
    this(
        self,
        peers,
        policy,
        partition,
        streams,
        adaptation,
        ENDED_TRANSACTIONS_MAX,
        Memory.DEFAULT,
        true,
        LinkWindows.NONE,
        UpdateObserver.NONE);
  }

  /** Returns whether the keyspace shows causal cuts and has transactions. */
  public boolean isCausal() {
    return policy.consistency() == KeyspacePolicy.Consistency.CAUSAL;
  }

  /** Returns the same with or without records. */
  public PartitionConfig recording(boolean kept) {
    return with(memory, kept, links, observer);
  }

  /** Returns the same with other bounds in the heap. */
  public PartitionConfig within(Memory bounds) {
    return with(bounds, recording, links, observer);
  }

  /** Returns the same with links shared with other partitions. */
  public PartitionConfig sharing(LinkWindows shared) {
    return with(memory, recording, shared, observer);
  }

  /** Returns the same with an observer of single updates. */
  public PartitionConfig observedBy(UpdateObserver hears) {
    return with(memory, recording, links, hears);
  }

  private PartitionConfig with(
      Memory bounds, boolean kept, LinkWindows shared, UpdateObserver hears) {
    return new PartitionConfig(
        self,
        peers,
        policy,
        partition,
        streams,
        adaptation,
        endedTransactions,
        bounds,
        kept,
        shared,
        hears);
  }
}
