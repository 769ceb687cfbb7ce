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
 * What a {@link Partition} is made with.
 *
 * @param peers the names of the other datacenters that hold the keyspace
 * @param partition its number, 0 to the policy's partitions − 1
 * @param streams bounds and times of the streams
 * @param adaptation settings of the adaptation; used only with adaptive propagation
 * @param endedTransactions of how many transactions it is remembered how they ended
 * @param memory what a causal partition may take in the heap besides its streams
 * @param recording whether anybody keeps what it does: otherwise its effects have no records
 * @param links the windows that it shares with other partitions
 * @param observer hears what becomes of single updates
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

  /** Of how many transactions it is remembered how they ended, unless set otherwise. */
  static final int ENDED_TRANSACTIONS_MAX = 100_000;

  /**
   * What a {@code causal} partition may take in the heap besides its streams, in bytes.
   *
   * @param history former values; when it is spent the oldest go before their time, and then the
   *     oldest open transactions are aborted
   * @param transactions open transactions; when it is spent further updates in them are refused
   * @param ended how transactions ended; when it is spent the oldest are forgotten
   */
  public record Memory(long history, long transactions, long ended) {
    /** 32 MiB each. */
    public static final Memory DEFAULT = new Memory(32L << 20, 32L << 20, 32L << 20);
  }

  public PartitionConfig {
    peers = List.copyOf(peers);
  }

  /** With the usual number of transactions that are remembered, and records. */
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

  /** Whether the keyspace shows causal cuts and has transactions. */
  public boolean isCausal() {
    return policy.consistency() == KeyspacePolicy.Consistency.CAUSAL;
  }

  /** The same with or without records. */
  public PartitionConfig recording(boolean kept) {
    return with(memory, kept, links, observer);
  }

  /** The same with other bounds in the heap. */
  public PartitionConfig within(Memory bounds) {
    return with(bounds, recording, links, observer);
  }

  /** The same with links that others use, too. */
  public PartitionConfig sharing(LinkWindows shared) {
    return with(memory, recording, shared, observer);
  }

  /** The same with somebody who hears what becomes of single updates. */
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
