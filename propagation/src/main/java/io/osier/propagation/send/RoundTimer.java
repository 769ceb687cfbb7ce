package io.osier.propagation.send;

import io.osier.propagation.host.ReplicationContext;
import java.util.Collection;

/**
 * When rounds leave. A held object is shipped at {@code t_firstUpdate + δ − μ − reserve}, μ being
 * the largest of the streaming peers' coordination times (mean + 4 deviations), and the reserve
 * what late rounds teach ({@link AckReserve}). Pure; not thread-safe.
 */
public final class RoundTimer {
  /** Rounds whose deadlines are closer together than this share of δ leave as one. */
  private static final int ROUND_SHARE = 20;

  private static final long ROUND_SPREAD_NANOS_MAX = 50_000_000;

  private final ReplicationContext around;
  private final OutboundLog log;
  private final Collection<PeerStream> streams;
  private final AckReserve reserve;

  /** When the next round was due as it looked at the end of the last tick. */
  private long plannedNanos = Long.MAX_VALUE;

  /** How late the round is that leaves now. */
  private long lateNanos;

  /**
   * @param streams to the peers, as they come and go
   */
  RoundTimer(ReplicationContext around, OutboundLog log, Collection<PeerStream> streams) {
    this.around = around;
    this.log = log;
    this.streams = streams;
    this.reserve = new AckReserve(around::slaNanos);
  }

  /** μ: the time set aside for the acknowledgement of a round, in nanoseconds. */
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

  /** Until a peer's rounds are known, half of the bound is set aside: it may be slow at first. */
  private long unlearntNanos() {
    return around.slaNanos() / 2;
  }

  /**
   * How long a held object may wait, in nanoseconds: δ − μ, less the reserve; 0 if that is nothing.
   */
  public long holdNanos() {
    long coordination = coordinationNanos();
    return Math.max(0, around.slaNanos() - coordination - reserve.nanos(coordination));
  }

  /** When the next round leaves; Long.MAX_VALUE if nothing is held. */
  public long dueNanos() {
    if (log.isOver()) {
      return Long.MIN_VALUE;
    }
    long oldest = log.oldestDirtyNanos();
    return oldest == Long.MAX_VALUE ? oldest : oldest + holdNanos();
  }

  /** What rounds have measured fades where none is to be expected. */
  void rest(long nowNanos) {
    if (log.dirtyCount() == 0) { // what is held brings a measurement itself
      for (PeerStream stream : streams) {
        stream.window().rest(nowNanos, unlearntNanos());
      }
    }
  }

  /**
   * The round that is due leaves now.
   *
   * @return what is held since then, or before, leaves with it
   */
  long begin(long nowNanos) {
    long due = dueNanos();
    // What is due only because more was set aside meanwhile is not late.
    long planned = plannedNanos == Long.MAX_VALUE ? due : Math.max(due, plannedNanos);
    lateNanos = Math.max(0, nowNanos - planned);
    long spread = Math.min(around.slaNanos() / ROUND_SHARE, ROUND_SPREAD_NANOS_MAX);
    boolean all = around.cuts().areWhole() || log.isOver();
    return all ? Long.MAX_VALUE : nowNanos - holdNanos() + spread;
  }

  /** All that was due has left. */
  void end() {
    lateNanos = 0;
    plannedNanos = dueNanos();
  }

  /** When what leaves now should be acknowledged. */
  long ackPlannedNanos(long nowNanos) {
    return nowNanos - lateNanos + coordinationNanos();
  }

  /** Hears how much later than planned rounds are acknowledged. */
  AckReserve reserve() {
    return reserve;
  }
}
