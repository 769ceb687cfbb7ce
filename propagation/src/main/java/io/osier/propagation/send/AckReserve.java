package io.osier.propagation.send;

import java.util.function.LongSupplier;

/**
 * The part of the staleness bound that is set aside for rounds that come later than planned:
 * because this machine or a receiver stalled, or the link was slower than usual. It is learned: the
 * latest that one of the last few thousand rounds was, in a histogram whose buckets grow by half
 * their octave and are halved now and then, so that what was long ago fades. A stall makes few
 * rounds late, however long it is, since none leaves meanwhile; so a quantile would not see it.
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
  private static final int HALVED_AFTER = 2_048;
  private static final int BUCKETS = 48;
  private static final int BUCKETS_AN_OCTAVE = 2;
  private static final double FIRST_NANOS = 1e6;

  private final LongSupplier slaNanos;
  private final int[] counts = new int[BUCKETS];
  private int total;
  private int sinceHalved;

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
    counts[bucket(lateNanos)]++;
    total++;
    if (++sinceHalved == HALVED_AFTER) {
      sinceHalved = 0;
      total = 0;
      for (int i = 0; i < BUCKETS; i++) {
        counts[i] /= 2;
        total += counts[i];
      }
    }
  }

  private static int bucket(long nanos) {
    if (nanos < FIRST_NANOS) {
      return 0;
    }
    double octaves = Math.log(nanos / FIRST_NANOS) / Math.log(2);
    return Math.min(BUCKETS - 1, 1 + (int) (octaves * BUCKETS_AN_OCTAVE));
  }

  /** The upper end of a bucket. */
  private static double end(int bucket) {
    return FIRST_NANOS * Math.pow(2, (double) bucket / BUCKETS_AN_OCTAVE);
  }

  /**
   * What to set aside, in nanoseconds.
   *
   * @param coordinationNanos what is set aside for the acknowledgement, besides
   */
  long nanos(long coordinationNanos) {
    long floor = slaNanos.getAsLong() / FLOOR_SHARE;
    if (total < LEARNT) {
      return TIMER_NANOS + floor;
    }
    long late = (long) latest();
    long most = Math.max(0, slaNanos.getAsLong() - coordinationNanos) / 2;
    return TIMER_NANOS + Math.max(Math.min(floor, FLOOR_NANOS_MAX), Math.min(late, most));
  }

  private double latest() {
    int bucket = BUCKETS - 1;
    while (bucket > 0 && counts[bucket] == 0) {
      bucket--;
    }
    return bucket == 0 ? 0 : end(bucket);
  }
}
