package io.osier.propagation.host;

import java.util.Arrays;

/**
 * Counts durations by ranges, as a histogram of a monitoring system: cheap to record, to copy and
 * to add up. Not thread-safe; {@link #copy} is for other threads.
 */
public final class DelayHistogram {
  /** The ranges' ends as shares of a staleness bound: dense around it, since that matters most. */
  private static final double[] SHARES = {
    0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 4.0, 10.0
  };

  /** The ranges' ends where no bound is known: 1 ms to 10 s. */
  private static final long[] USUAL_MICROS = {
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000
  };

  private final long[] boundsMicros;
  private final long[] counts;
  private long sumMicros;

  private DelayHistogram(long[] boundsMicros, long[] counts, long sumMicros) {
    this.boundsMicros = boundsMicros;
    this.counts = counts;
    this.sumMicros = sumMicros;
  }

  /**
   * Returns an empty histogram with these ends of ranges; durations above the last one have a range
   * of their own.
   *
   * @param boundsMicros ascending, in microseconds; not changed afterwards
   */
  public static DelayHistogram of(long... boundsMicros) {
    return new DelayHistogram(boundsMicros, new long[boundsMicros.length + 1], 0);
  }

  /**
   * Returns a histogram of counts that were made elsewhere.
   *
   * @param boundsMicros as for {@link #of}
   * @param counts one more than bounds; not changed afterwards
   * @param sumMicros the sum of all durations, in microseconds
   * @throws IllegalArgumentException if there are too few or too many counts
   */
  public static DelayHistogram counted(long[] boundsMicros, long[] counts, long sumMicros) {
    if (counts.length != boundsMicros.length + 1) {
      throw new IllegalArgumentException(
          boundsMicros.length + " bounds make " + (boundsMicros.length + 1) + " ranges");
    }
    return new DelayHistogram(boundsMicros, counts, sumMicros);
  }

  /** Returns an empty histogram with ranges from 1 ms to 10 s. */
  public static DelayHistogram usual() {
    return of(USUAL_MICROS);
  }

  /** Returns an empty histogram with ranges around a staleness bound; the usual ones if it is 0. */
  public static DelayHistogram around(long boundMillis) {
    if (boundMillis <= 0) {
      return usual();
    }
    return of(
        Arrays.stream(SHARES)
            .mapToLong(s -> Math.max(1, Math.round(s * boundMillis * 1e3)))
            .toArray());
  }

  /** Records a duration, in microseconds; below 0 counts as 0. */
  public void record(long micros) {
    long time = Math.max(0, micros);
    int i = 0;
    while (i < boundsMicros.length && time > boundsMicros[i]) {
      i++;
    }
    counts[i]++;
    sumMicros += time;
  }

  public int ranges() {
    return boundsMicros.length;
  }

  /** Returns the end of a range in microseconds; the end belongs to the range. */
  public long boundMicros(int range) {
    return boundsMicros[range];
  }

  /** Returns how many durations lie in a range; {@link #ranges()} is the one above the last end. */
  public long count(int range) {
    return counts[range];
  }

  public long total() {
    return Arrays.stream(counts).sum();
  }

  /** Returns the sum of all durations, in microseconds. */
  public long sumMicros() {
    return sumMicros;
  }

  /** Returns an independent copy. */
  public DelayHistogram copy() {
    return new DelayHistogram(boundsMicros, counts.clone(), sumMicros);
  }

  /**
   * Returns the sum of both histograms.
   *
   * @throws IllegalArgumentException if their ranges differ
   */
  public DelayHistogram plus(DelayHistogram other) {
    if (!Arrays.equals(boundsMicros, other.boundsMicros)) {
      throw new IllegalArgumentException("the ranges differ: " + this + ", " + other);
    }
    long[] sums = counts.clone();
    for (int i = 0; i < sums.length; i++) {
      sums[i] += other.counts[i];
    }
    return new DelayHistogram(boundsMicros, sums, sumMicros + other.sumMicros);
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof DelayHistogram d
        && Arrays.equals(boundsMicros, d.boundsMicros)
        && Arrays.equals(counts, d.counts)
        && sumMicros == d.sumMicros;
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(counts);
  }

  @Override
  public String toString() {
    return total() + " times, " + sumMicros + " µs together";
  }
}
