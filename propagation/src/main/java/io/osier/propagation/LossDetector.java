package io.osier.propagation;

import io.osier.core.ReplicaId;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.receive.ReceivedVector;
import io.osier.propagation.wire.Frame;
import java.util.HashMap;
import java.util.Map;

/**
 * Records since when no datacenter seems to have updates of an origin beyond those here, and
 * whether that is certain enough to give up the updates that wait for them. A status says what its
 * sender had when it was sent: the sender may have received something since from the origin, before
 * it heard of the origin's end. So all peers must have sent a new status, after the time in which a
 * silent datacenter counts as out of reach.
 *
 * <p>A status does not say which received updates are waiting. A peer that reports waiting updates
 * may have just the missing ones, and shows them when it has repaired those that they wait for; so
 * it is given long. But not for ever: its updates may wait for those that wait here. Not
 * thread-safe.
 */
final class LossDetector {
  /** A peer with waiting updates is given this many times as long. */
  static final int PATIENCE = 30;

  private final ReplicationContext around;
  private final ReceivedVector knowledge;
  private final Map<String, Long> heardNanos = new HashMap<>();
  private Map<ReplicaId, Long> before = new HashMap<>();
  private Map<ReplicaId, Long> sinceNanos = new HashMap<>();

  LossDetector(ReplicationContext around, ReceivedVector knowledge) {
    this.around = around;
    this.knowledge = knowledge;
  }

  /**
   * Takes a peer's status.
   *
   * @param delayNanos how much longer the status travelled than usual, by the two wall clocks, of
   *     which one may have been set
   */
  void heard(String dc, long delayNanos, long nowNanos) {
    heardNanos.put(dc, nowNanos - Math.min(delayNanos, PATIENCE * pauseNanos()));
  }

  private long pauseNanos() {
    return around.healNanos() + around.retryNanos();
  }

  /** Forgets a datacenter that is no peer any more. */
  void remove(String dc) {
    heardNanos.remove(dc);
  }

  /** Begins a new look: an origin that does not seem lost this time is not lost since before. */
  void look() {
    before = sinceNanos;
    sinceNanos = new HashMap<>();
  }

  /**
   * Notes that no datacenter seems to have updates of an origin beyond those here. Returns whether
   * that is certain.
   */
  boolean isCertain(ReplicaId origin, long nowNanos) {
    long since = before.getOrDefault(origin, nowNanos);
    sinceNanos.put(origin, since);
    long pause = pauseNanos();
    boolean waits = false;
    for (String dc : around.peers()) {
      Frame.Status status = knowledge.status(dc);
      if (status == null || heardNanos.getOrDefault(dc, since) - since < pause) {
        return false;
      }
      waits |= status.waiting();
    }
    return nowNanos - since >= (waits ? PATIENCE * pause : pause);
  }
}
