package io.osier.propagation.host;

import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.propagation.wire.FrameCodec;
import io.osier.propagation.wire.Shipment;
import java.util.List;

/**
 * What all parts of one partition's replication are given. The peers, the policy and the settings
 * may change while the partition serves; nothing else does. Used by whoever runs the partition.
 */
public final class ReplicationContext {
  private final ReplicaId self;
  private List<String> peers;
  private final RecoveredState recovered;
  private final ObjectAccess replica;
  private final FrameSink sink;
  private final PropagationStats stats;
  private final UpdateObserver observer;
  private KeyspacePolicy policy;
  private StreamSettings settings;

  /**
   * @param peers the other datacenters that hold the keyspace
   * @param recovered what the store kept
   * @param replica the partition's objects
   * @param sink takes the frames that are to be sent
   * @param observer hears what becomes of single updates
   */
  public ReplicationContext(
      ReplicaId self,
      List<String> peers,
      KeyspacePolicy policy,
      StreamSettings settings,
      RecoveredState recovered,
      ObjectAccess replica,
      FrameSink sink,
      PropagationStats stats,
      UpdateObserver observer) {
    this.self = self;
    this.peers = List.copyOf(peers);
    this.policy = policy;
    this.settings = settings;
    this.recovered = recovered;
    this.replica = replica;
    this.sink = sink;
    this.stats = stats;
    this.observer = observer;
  }

  /** From now on the keyspace behaves so; what identifies it stays. */
  public void configure(KeyspacePolicy changed, StreamSettings bounds) {
    policy = changed;
    settings = bounds;
  }

  /** From now on these are the other datacenters that hold the keyspace. */
  public void setPeers(List<String> changed) {
    peers = List.copyOf(changed);
  }

  public ReplicaId self() {
    return self;
  }

  /** The other datacenters that hold the keyspace. */
  public List<String> peers() {
    return peers;
  }

  public KeyspacePolicy policy() {
    return policy;
  }

  /** Bounds and times of the streams as they are now. */
  public StreamSettings settings() {
    return settings;
  }

  /** What the store kept. */
  public RecoveredState recovered() {
    return recovered;
  }

  /** The partition's objects. */
  public ObjectAccess replica() {
    return replica;
  }

  /** Takes the frames that are to be sent. */
  public FrameSink sink() {
    return sink;
  }

  public PropagationStats stats() {
    return stats;
  }

  /** Hears what becomes of single updates. */
  public UpdateObserver observer() {
    return observer;
  }

  /** What the kind of the keyspace asks of those who ship and answer. */
  public CutPolicy cuts() {
    return CutPolicy.of(policy);
  }

  /**
   * How many bytes a shipment takes in a frame of this datacenter. Fixes its content: a frame waits
   * until what was done before it is durable, and a state may be read by a version of the store
   * that is not kept for so long. So it must be asked of whatever is sent, when its frame is made.
   */
  public int bytesOf(Shipment shipment) {
    return FrameCodec.sizeOf(self, shipment);
  }

  /** How stale an update may be when it becomes visible elsewhere. */
  public long slaNanos() {
    return policy.sla().toNanos();
  }

  /** From what age on an update counts as late: the staleness bound, or a second without one. */
  public long lateNanos() {
    return slaNanos() > 0 ? slaNanos() : 1_000_000_000;
  }

  /** See {@link StreamSettings#retryMillis()}. */
  public long retryNanos() {
    return nanos(settings.retryMillis());
  }

  /** See {@link StreamSettings#healMillis()}. */
  public long healNanos() {
    return nanos(settings.healMillis());
  }

  /** See {@link StreamSettings#statusMillis()}. */
  public long statusNanos() {
    return nanos(settings.statusMillis());
  }

  private static long nanos(long millis) {
    return millis * 1_000_000;
  }
}
