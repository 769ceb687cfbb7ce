package io.osier.datacenter.forward;

import io.osier.propagation.host.DelayHistogram;
import java.util.concurrent.atomic.LongAdder;

/** Counts times by ranges, from many threads. Thread-safe. */
public final class DelayCounts {
  private final long[] boundsMicros;
  private final LongAdder[] counts;
  private final LongAdder sumMicros = new LongAdder();

  /**
   * @param boundsMicros the ranges' ends, ascending, in microseconds; not changed afterwards
   */
  public DelayCounts(long... boundsMicros) {
    this.boundsMicros = boundsMicros;
    this.counts = new LongAdder[boundsMicros.length + 1];
    for (int i = 0; i < counts.length; i++) {
      counts[i] = new LongAdder();
    }
  }

  /** Takes a time, in nanoseconds; below 0 counts as 0. */
  public void add(long nanos) {
    long micros = Math.max(0, nanos / 1_000);
    int i = 0;
    while (i < boundsMicros.length && micros > boundsMicros[i]) {
      i++;
    }
    counts[i].increment();
    sumMicros.add(micros);
  }

  /** A copy. */
  public DelayHistogram figures() {
    long[] sums = new long[counts.length];
    for (int i = 0; i < sums.length; i++) {
      sums[i] = counts[i].sum();
    }
    return DelayHistogram.counted(boundsMicros, sums, sumMicros.sum());
  }
}
