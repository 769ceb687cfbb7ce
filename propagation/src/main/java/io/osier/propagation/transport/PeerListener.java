package io.osier.propagation.transport;

import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.propagation.Frame;

/** Hears of peers. Called by the transport's threads; must not block. */
public interface PeerListener {
  /** Frames can be sent to the peer from now on. */
  void up(ReplicaId peer);

  /** Frames can no longer be sent to the datacenter. */
  void down(String dc);

  /** A frame has come. Frames of one peer come in the order in which they were sent. */
  void received(ReplicaId peer, String keyspace, int partition, Frame frame);

  /**
   * A peer will never accept this datacenter as it is configured or named; the process should stop.
   */
  void rejected(String dc, OsierException why);
}
