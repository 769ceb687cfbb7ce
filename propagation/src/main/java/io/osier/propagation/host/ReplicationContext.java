package io.osier.propagation.host;

import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.propagation.wire.FrameCodec;
import io.osier.propagation.wire.Shipment;
import java.util.List;

/**
 * What all parts of one partition's replication share. The peers, the policy and the settings may
 * change while the partition serves; nothing else does. Used only by the thread that runs the
 * partition.
 */
public final class ReplicationContext {
  private final ReplicaId self;
  private List<String> peers;
  private final RecoveredState recovered;
  private final ObjectAccess replica;
  private final FrameSink sink;
  private final PropagationStats stats = new PropagationStats();
  private final UpdateObserver observer;
  private KeyspacePolicy policy;
  private StreamSettings settings;

  /**
   * @param peers the other datacenters that hold the keyspace
   * @param recovered what the store kept
   * @param replica the partition's objects
   * @param sink takes the frames that are to be sent
   * @param observer is told what becomes of single updates
   */
  public ReplicationContext(
      ReplicaId self,
      List<String> peers,
      KeyspacePolicy policy,
      StreamSettings settings,
      RecoveredState recovered,
      ObjectAccess replica,
      FrameSink sink,
      UpdateObserver observer) {
    this.self = self;
    this.peers = List.copyOf(peers);
    this.policy = policy;
    this.settings = settings;
    this.recovered = recovered;
    this.replica = replica;
    this.sink = sink;
    this.observer = observer;
  }

  /** Changes the policy and the settings; what identifies the keyspace stays the same. */
  public void configure(KeyspacePolicy changed, StreamSettings bounds) {
    policy = changed;
    settings = bounds;
  }

  /** Sets the other datacenters that hold the keyspace. */
  public void setPeers(List<String> changed) {
    peers = List.copyOf(changed);
  }

  public ReplicaId self() {
    return self;
  }

  /** Returns the other datacenters that hold the keyspace. */
  public List<String> peers() {
    return peers;
  }

  public KeyspacePolicy policy() {
    return policy;
  }

  /** Returns the bounds and times of the streams as they are now. */
  public StreamSettings settings() {
    return settings;
  }

  /** Returns the progress that the store kept. */
  public RecoveredState recovered() {
    return recovered;
  }

  /** Returns the partition's objects. */
  public ObjectAccess replica() {
    return replica;
  }

  /** Returns the sink of the frames that are to be sent. */
  public FrameSink sink() {
    return sink;
  }

  public PropagationStats stats() {
    return stats;
  }

  /** Returns the observer that is told of single updates. */
  public UpdateObserver observer() {
    return observer;
  }

  /** Returns the rules that the keyspace's consistency sets for shipments and answers. */
  public CutPolicy cuts() {
    return CutPolicy.of(policy);
  }

  /**
   * Returns how many bytes a shipment takes in a frame of this datacenter. The call also fixes the
   * shipment's content: a frame waits until everything before it is durable, and a state may read a
   * version of the store that is not kept for that long. So it must be called for every shipment
   * when its frame is made.
   */
  public int bytesOf(Shipment shipment) {
    return FrameCodec.sizeOf(self, shipment);
  }

  /** Returns how stale an update may be when it becomes visible elsewhere, in nanoseconds. */
  public long slaNanos() {
    return policy.sla().toNanos();
  }

  /**
   * Returns the age from which an update counts as late: the staleness bound, or a second without
   * one.
   */
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
