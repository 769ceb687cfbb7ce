package io.osier.bench.wan;

import java.util.SplittableRandom;

/**
 * One direction of a link, shared by its connections: when the line is free, how long a passage
 * takes, whether the direction is cut. Times are nanoseconds of any monotonic clock and are passed
 * in. Not thread-safe.
 */
final class WanDirection {
  private static final double NANOS_PER_MILLI = 1e6;
  private static final double NANOS_PER_SECOND = 1e9;

  /** How long what a link holds may wait for its turn, as in the buffers of real ones. */
  private static final double BUFFERED_MILLIS = 250;

  /** A link that carries little still takes so many bytes at once. */
  private static final long HELD_BYTES_MIN = 64 << 10;

  private WanQuality quality;
  private final SplittableRandom random;
  private boolean cut;

  /** Until when the line is occupied; meaningful only once something was sent. */
  private long freeNanos;

  private boolean used;

  WanDirection(WanQuality quality, long seed) {
    this.quality = quality;
    this.random = new SplittableRandom(seed);
  }

  /** Sends bytes after everything sent before, and tells when they arrive. */
  long arrivalNanos(long nowNanos, long bytes) {
    long startNanos = used && freeNanos - nowNanos > 0 ? freeNanos : nowNanos;
    used = true;
    freeNanos = startNanos;
    if (quality.bytesPerSecond() > 0) {
      // In floating point: bytes times 10^9 leaves the range of a long at 9 GB.
      freeNanos += (long) Math.ceil(bytes * NANOS_PER_SECOND / quality.bytesPerSecond());
    }
    double millis = quality.delayMillis();
    if (quality.jitterMillis() > 0) {
      millis += random.nextDouble() * quality.jitterMillis();
    }
    return freeNanos + (long) (millis * NANOS_PER_MILLI);
  }

  /** Changes what is sent from now on; what is under way arrives as it would have. */
  void become(WanQuality other) {
    quality = other;
  }

  /** How many bytes a connection can have under way: what a narrow link buffers is little. */
  long holdsBytes() {
    if (quality.bytesPerSecond() == 0) {
      return Long.MAX_VALUE;
    }
    double millis = quality.delayMillis() + quality.jitterMillis() + BUFFERED_MILLIS;
    return Math.max(HELD_BYTES_MIN, (long) (quality.bytesPerSecond() * millis / 1e3));
  }

  long delayNanos() {
    return (long) (quality.delayMillis() * NANOS_PER_MILLI);
  }

  boolean isCut() {
    return cut;
  }

  void cut() {
    cut = true;
  }

  /** Opens the direction again; the line is free from now on, since all is sent again. */
  void heal(long nowNanos) {
    cut = false;
    freeNanos = nowNanos;
  }
}
