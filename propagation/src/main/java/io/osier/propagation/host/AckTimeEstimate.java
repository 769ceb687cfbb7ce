package io.osier.propagation.host;

/**
 * Estimates the time to set aside for one peer's acknowledgement: mean + 4 deviations of the
 * measured times, both smoothed as TCP computes its retransmission timeout (Jacobson, "Congestion
 * Avoidance and Control", 1988). The mean alone would be too short half of the time.
 *
 * <p>A long time that was measured once must not stay for ever: if it leaves no time to hold
 * anything, no round is made that would measure a better one. So the estimate is halved for each
 * second without a measurement ({@link #rest}). Not thread-safe.
 */
public final class AckTimeEstimate {
  private static final double GAIN_MEAN = 1.0 / 8;
  private static final double GAIN_DEVIATION = 1.0 / 4;
  private static final int DEVIATIONS = 4;
  private static final int SAMPLES_MIN = 8;
  private static final long HALF_LIFE_NANOS = 1_000_000_000;

  private double meanNanos;
  private double deviationNanos;
  private int samples;
  private long sampledNanos;

  public AckTimeEstimate() {}

  /** Takes the time from a frame's sending to its acknowledgement, which has just come. */
  public void sample(long nanos, long nowNanos) {
    sampledNanos = nowNanos;
    if (samples++ == 0) {
      meanNanos = nanos;
      deviationNanos = nanos / 2.0;
      return;
    }
    double error = nanos - meanNanos;
    meanNanos += GAIN_MEAN * error;
    deviationNanos += GAIN_DEVIATION * (Math.abs(error) - deviationNanos);
  }

  /** Whether {@link #rest} would do something now. */
  public boolean isOld(long nowNanos) {
    return samples > 0 && nowNanos - sampledNanos >= HALF_LIFE_NANOS;
  }

  /**
   * Halves the time for each second since the last measurement, but not below {@code floorNanos},
   * which is set aside where nothing was measured yet. To be called only while no measurement is to
   * be expected.
   */
  public void rest(long nowNanos, long floorNanos) {
    while (isOld(nowNanos) && nanos() > floorNanos) {
      double share = Math.max(0.5, floorNanos / (meanNanos + DEVIATIONS * deviationNanos));
      meanNanos *= share;
      deviationNanos *= share;
      sampledNanos += HALF_LIFE_NANOS;
    }
  }

  /** Whether there are enough measurements to rely on. */
  public boolean isLearnt() {
    return samples >= SAMPLES_MIN;
  }

  /** Returns mean + 4 deviations in nanoseconds, 0 if nothing was measured. */
  public long nanos() {
    return (long) (meanNanos + DEVIATIONS * deviationNanos);
  }
}
