package io.osier.propagation.send;

import java.util.function.LongSupplier;

/**
 * Learns how much of the staleness bound to set aside for rounds that are acknowledged later than
 * planned, because this machine or a receiver stalled or the link was slower than usual. The
 * reserve is the largest lateness among the last few thousand rounds, or half of the former maximum
 * where that is more. It is a maximum and no quantile, because no rounds leave during a stall: a
 * stall makes few rounds late, however long it lasts.
 *
 * <p>The learned value is used after {@link #LEARNT} rounds. A kind of stall that did not happen
 * during a few thousand rounds is forgotten, hence the floor. The reserve never takes more than
 * half of what the acknowledgement leaves of the bound, so that rounds go on and correct it. Pure;
 * not thread-safe.
 */
final class AckReserve {
  /** Added to every reserve, for the granularity of timers and the handling of the batch. */
  private static final long TIMER_NANOS = 5_000_000;

  /**
   * The floor is this share of the bound, and once the reserve is learned at most {@link
   * #FLOOR_NANOS_MAX}.
   */
  private static final int FLOOR_SHARE = 10;

  private static final long FLOOR_NANOS_MAX = 200_000_000;

  private static final int LEARNT = 64;

  /** After each window of this many rounds, the maximum of earlier windows is halved. */
  private static final int WINDOW_ROUNDS = 2_048;

  private static final double MILLI = 1e6;

  private final LongSupplier slaNanos;

  /**
   * The largest lateness in the current window; {@link #formerNanos} is that of earlier windows.
   */
  private long latestNanos;

  private long formerNanos;
  private int windowRounds;
  private boolean hasFormer;

  /** Creates a reserve for the staleness bound that {@code slaNanos} returns at each call. */
  AckReserve(LongSupplier slaNanos) {
    this.slaNanos = slaNanos;
  }

  /**
   * Takes how much later than planned a round was acknowledged.
   *
   * @param lateNanos 0 or less if the round was in time; a value of the bound or more is ignored,
   *     since that was an outage, against which no reserve helps
   */
  void sample(long lateNanos) {
    if (lateNanos >= slaNanos.getAsLong()) {
      return;
    }
    latestNanos = Math.max(latestNanos, lateNanos);
    if (++windowRounds == WINDOW_ROUNDS) {
      formerNanos = Math.max(latestNanos, formerNanos / 2);
      latestNanos = 0;
      windowRounds = 0;
      hasFormer = true;
    }
  }

  /**
   * Returns how much to set aside, in nanoseconds.
   *
   * @param coordinationNanos the time that is set aside for the acknowledgement in addition to the
   *     reserve
   */
  long nanos(long coordinationNanos) {
    long floor = slaNanos.getAsLong() / FLOOR_SHARE;
    if (!hasFormer && windowRounds < LEARNT) {
      return TIMER_NANOS + floor;
    }
    long late = withMargin(Math.max(latestNanos, formerNanos));
    long most = Math.max(0, slaNanos.getAsLong() - coordinationNanos) / 2;
    return TIMER_NANOS + Math.max(Math.min(floor, FLOOR_NANOS_MAX), Math.min(late, most));
  }

  /**
   * Rounds up to the next half octave above a millisecond: the next stall may take a little longer.
   */
  private static long withMargin(long nanos) {
    if (nanos < MILLI) {
      return 0;
    }
    double halfOctaves = Math.log(nanos / MILLI) / Math.log(2) * 2;
    return (long) (MILLI * Math.pow(2, (1 + (int) halfOctaves) / 2.0));
  }
}
