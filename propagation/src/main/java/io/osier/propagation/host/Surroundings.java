package io.osier.propagation.host;

import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.propagation.wire.FrameCodec;
import io.osier.propagation.wire.Shipment;
import java.util.List;

/**
 * What all parts of one partition's replication are given.
 *
 * @param self this datacenter
 * @param peers the other datacenters that hold the keyspace
 * @param recovered what the store kept
 * @param replica the partition's objects
 * @param sink takes the frames that are to be sent
 * @param observer hears what becomes of single updates
 */
public record Surroundings(
    ReplicaId self,
    List<String> peers,
    KeyspacePolicy policy,
    StreamSettings settings,
    Recovered recovered,
    Replica replica,
    FrameSink sink,
    PropagationStats stats,
    UpdateObserver observer) {

  public Surroundings {
    peers = List.copyOf(peers);
  }

  /** What the kind of the keyspace asks of those who ship and answer. */
  public Cuts cuts() {
    return Cuts.of(policy);
  }

  /** How many bytes a shipment takes in a frame of this datacenter. */
  public int bytesOf(Shipment shipment) {
    return FrameCodec.sizeOf(self, shipment);
  }

  /** How stale an update may be when it becomes visible elsewhere. */
  public long slaNanos() {
    return policy.sla().toNanos();
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
