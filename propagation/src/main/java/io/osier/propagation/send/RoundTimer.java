package io.osier.propagation.send;

import io.osier.propagation.host.ReplicationContext;
import java.util.Collection;

/**
 * Decides when rounds leave. A held object is shipped at {@code t_firstUpdate + δ − μ − reserve}: μ
 * is the largest coordination time of the connected peers (mean + 4 deviations), and late rounds
 * teach the reserve ({@link AckReserve}). Pure; not thread-safe.
 */
public final class RoundTimer {
  /** Rounds whose deadlines are closer together than this share of δ leave as one. */
  private static final int ROUND_SHARE = 20;

  private static final long ROUND_SPREAD_NANOS_MAX = 50_000_000;

  private final ReplicationContext around;
  private final OutboundLog log;
  private final Collection<PeerStream> streams;
  private final AckReserve reserve;

  /** When the next round was due, as computed at the end of the last tick. */
  private long plannedNanos = Long.MAX_VALUE;

  /** How late the round is that leaves now. */
  private long lateNanos;

  /**
   * @param streams the streams to the current peers: a live view
   */
  RoundTimer(ReplicationContext around, OutboundLog log, Collection<PeerStream> streams) {
    this.around = around;
    this.log = log;
    this.streams = streams;
    this.reserve = new AckReserve(around::slaNanos);
  }

  /** Returns μ, the time set aside for the acknowledgement of a round, in nanoseconds. */
  public long coordinationNanos() {
    long slowest = 0;
    for (PeerStream stream : streams) {
      if (stream.linkUp()) {
        long time = stream.window().rounds().isLearnt() ? 0 : unlearntNanos();
        slowest = Math.max(slowest, Math.max(time, stream.window().rounds().nanos()));
      }
    }
    return slowest;
  }

  /**
   * Returns half of the bound, which is set aside until a peer's rounds have been measured: it may
   * be slow at first.
   */
  private long unlearntNanos() {
    return around.slaNanos() / 2;
  }

  /** Returns how long a held object may wait, in nanoseconds: δ − μ − reserve, but not below 0. */
  public long holdNanos() {
    long coordination = coordinationNanos();
    return Math.max(0, around.slaNanos() - coordination - reserve.nanos(coordination));
  }

  /** Returns when the next round leaves; Long.MAX_VALUE if nothing is held. */
  public long dueNanos() {
    if (log.isOver()) {
      return Long.MIN_VALUE;
    }
    long oldest = log.oldestDirtyNanos();
    return oldest == Long.MAX_VALUE ? oldest : oldest + holdNanos();
  }

  /** Lets measured acknowledgement times fade while no round is to be expected. */
  void rest(long nowNanos) {
    if (log.dirtyCount() == 0) { // a round of held updates brings a new measurement
      for (PeerStream stream : streams) {
        stream.window().rest(nowNanos, unlearntNanos());
      }
    }
  }

  /**
   * Begins the round that is due.
   *
   * @return objects whose first update was committed up to this moment leave with the round
   */
  long begin(long nowNanos) {
    long due = dueNanos();
    // A round that is due only because more time is set aside by now does not count as late.
    long planned = plannedNanos == Long.MAX_VALUE ? due : Math.max(due, plannedNanos);
    lateNanos = Math.max(0, nowNanos - planned);
    long spread = Math.min(around.slaNanos() / ROUND_SHARE, ROUND_SPREAD_NANOS_MAX);
    boolean all = around.cuts().areWhole() || log.isOver();
    return all ? Long.MAX_VALUE : nowNanos - holdNanos() + spread;
  }

  /** Notes that all that was due has left. */
  void end() {
    lateNanos = 0;
    plannedNanos = dueNanos();
  }

  /** Returns when a frame that leaves now should be acknowledged. */
  long ackPlannedNanos(long nowNanos) {
    return nowNanos - lateNanos + coordinationNanos();
  }

  /**
   * Returns the reserve, which is to be told how much later than planned rounds are acknowledged.
   */
  AckReserve reserve() {
    return reserve;
  }
}
