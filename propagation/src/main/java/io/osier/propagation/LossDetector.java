package io.osier.propagation;

import io.osier.core.ReplicaId;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.receive.ReceivedVector;
import io.osier.propagation.wire.Frame;
import java.util.HashMap;
import java.util.Map;

/**
 * Since when it seems that nobody has any more of an origin's updates, and whether that is certain
 * enough to give up what waits for them. A status tells what its sender had when it left: it may
 * have got something since, from the origin itself, before it heard of that one's end. So all peers
 * must have told anew, after the time in which whoever is not heard counts as out of reach.
 *
 * <p>A status does not tell what has come and waits. A peer that says that something does may have
 * just what is missed, and shows it when it has repaired what that waits for; so it is given long.
 * Not for ever: it may wait for what waits here. Not thread-safe.
 */
final class LossDetector {
  /** Whoever waits may do so for so many times as long. */
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
   * A peer tells what it has, or had when that left.
   *
   * @param delayNanos how much longer it was under way than usual, by the two wall clocks: one may
   *     have been set
   */
  void heard(String dc, long delayNanos, long nowNanos) {
    heardNanos.put(dc, nowNanos - Math.min(delayNanos, PATIENCE * pauseNanos()));
  }

  private long pauseNanos() {
    return around.healNanos() + around.retryNanos();
  }

  /** Nothing is heard of a datacenter any more. */
  void remove(String dc) {
    heardNanos.remove(dc);
  }

  /** It is looked anew: what does not seem lost this time was not since before. */
  void look() {
    before = sinceNanos;
    sinceNanos = new HashMap<>();
  }

  /** Nobody seems to have any more of an origin's updates. Returns whether that is certain. */
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
