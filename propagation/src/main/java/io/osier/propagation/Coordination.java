package io.osier.propagation;

/**
 * The time to set aside for one peer's acknowledgement: mean + 4 deviations of the measured ones,
 * both smoothed as TCP computes its retransmission timeout (Jacobson, "Congestion Avoidance and
 * Control", 1988). The mean alone would be too short half of the time. Not thread-safe.
 */
final class Coordination {
  private static final double GAIN_MEAN = 1.0 / 8;
  private static final double GAIN_DEVIATION = 1.0 / 4;
  private static final int DEVIATIONS = 4;
  private static final int SAMPLES_MIN = 8;

  private double meanNanos;
  private double deviationNanos;
  private int samples;

  /** Takes the time from a frame's sending to its acknowledgement. */
  void sample(long nanos) {
    if (samples++ == 0) {
      meanNanos = nanos;
      deviationNanos = nanos / 2.0;
      return;
    }
    double error = nanos - meanNanos;
    meanNanos += GAIN_MEAN * error;
    deviationNanos += GAIN_DEVIATION * (Math.abs(error) - deviationNanos);
  }

  /** Whether enough was measured to rely on. */
  boolean isLearnt() {
    return samples >= SAMPLES_MIN;
  }

  /** Mean + 4 deviations, 0 if nothing was measured. */
  long nanos() {
    return (long) (meanNanos + DEVIATIONS * deviationNanos);
  }
}
