package io.osier.bench.wan;

/**
 * The quality of one direction of a link.
 *
 * @param delayMillis one way; at least 0
 * @param jitterMillis added to the delay, evenly from 0 to this; at least 0
 * @param bytesPerSecond bandwidth, shared by all connections; 0 for unlimited
 */
public record WanQuality(double delayMillis, double jitterMillis, long bytesPerSecond) {
  /** A delay of more than an hour is taken for a mistake in the unit. */
  private static final double MILLIS_MAX = 3_600_000;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException if a value is negative, not a number, or over an hour
   */
  public WanQuality {
    if (!(delayMillis >= 0 && delayMillis <= MILLIS_MAX)
        || !(jitterMillis >= 0 && jitterMillis <= MILLIS_MAX)
        || bytesPerSecond < 0) {
      throw new IllegalArgumentException(
          "delay and jitter must be 0 to 3,600,000 ms and the bandwidth not negative: delay "
              + delayMillis
              + ", jitter "
              + jitterMillis
              + ", bandwidth "
              + bytesPerSecond);
    }
  }
}
