package io.osier.propagation.send;

import java.util.function.LongSupplier;

/**
 * The part of the staleness bound that is set aside for rounds that come later than planned:
 * because this machine or a receiver stalled, or the link was slower than usual. It is learned: the
 * latest that one of the last few thousand rounds was, or half of what it was before. A stall makes
 * few rounds late, however long it is, since none leaves meanwhile; so a quantile would not see it.
 *
 * <p>It is trusted after {@link #LEARNT} rounds. It is blind to a stall of a kind that was not seen
 * for a few thousand rounds, hence a floor; and it never takes more than half of what the
 * acknowledgement leaves of the bound, so that rounds go on and teach it better. Pure; not
 * thread-safe.
 */
final class AckReserve {
  /** Set aside in any case, for the granularity of timers and the handling of the batch. */
  private static final long TIMER_NANOS = 5_000_000;

  /** The floor: this share of the bound, and once learned at most {@link #FLOOR_NANOS_MAX}. */
  private static final int FLOOR_SHARE = 10;

  private static final long FLOOR_NANOS_MAX = 200_000_000;

  private static final int LEARNT = 64;

  /** After each so many rounds what was learned from former ones counts half. */
  private static final int WINDOW_ROUNDS = 2_048;

  private static final double MILLI = 1e6;

  private final LongSupplier slaNanos;

  /** The latest round of this window, and of those before it. */
  private long latestNanos;

  private long formerNanos;
  private int windowRounds;
  private boolean hasFormer;

  /** With the staleness bound as it is at any time. */
  AckReserve(LongSupplier slaNanos) {
    this.slaNanos = slaNanos;
  }

  /**
   * Takes how much later than planned a round was acknowledged.
   *
   * @param lateNanos 0 or less if it was in time; ignored if larger than the bound, since that was
   *     an outage, which no reserve helps against
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
   * What to set aside, in nanoseconds.
   *
   * @param coordinationNanos what is set aside for the acknowledgement, besides
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

  /** The next larger half octave above a millisecond: the next stall may take a little longer. */
  private static long withMargin(long nanos) {
    if (nanos < MILLI) {
      return 0;
    }
    double halfOctaves = Math.log(nanos / MILLI) / Math.log(2) * 2;
    return (long) (MILLI * Math.pow(2, (1 + (int) halfOctaves) / 2.0));
  }
}
