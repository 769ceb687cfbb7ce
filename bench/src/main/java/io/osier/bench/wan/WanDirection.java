package io.osier.bench.wan;

import java.util.SplittableRandom;

/**
 * One direction of a link, shared by its connections: computes when bytes arrive, from the quality
 * and the bytes before them, and keeps whether the direction is cut. Times are passed in, in
 * nanoseconds of any monotonic clock. Not thread-safe.
 */
final class WanDirection {
  private static final double NANOS_PER_MILLI = 1e6;
  private static final double NANOS_PER_SECOND = 1e9;

  /** How long bytes may wait in the buffers of the link, as in those of real ones. */
  private static final double BUFFERED_MILLIS = 250;

  /** The least number of bytes that a connection can have in flight, however narrow the link. */
  private static final long HELD_BYTES_MIN = 64 << 10;

  private WanQuality quality;
  private final SplittableRandom random;
  private boolean cut;

  /** Until when the line is occupied; undefined until bytes were sent. */
  private long freeNanos;

  private boolean used;

  WanDirection(WanQuality quality, long seed) {
    this.quality = quality;
    this.random = new SplittableRandom(seed);
  }

  /** Sends bytes after all earlier ones, and returns when they arrive. */
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

  /** Changes the quality for bytes that are sent from now on. */
  void become(WanQuality other) {
    quality = other;
  }

  /** Returns how many bytes a connection can have in flight; a narrow link buffers few. */
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

  /** Ends a cut. The line is free from now on, since all held bytes are sent again. */
  void heal(long nowNanos) {
    cut = false;
    freeNanos = nowNanos;
  }
}
