package io.osier.core.trace;

/**
 * Which updates are followed by a trace: a share of all, drawn by their names. So every datacenter,
 * and the client that learns an update's number from its answer, follow the same ones without
 * telling each other, as long as they have the same share. Immutable; thread-safe.
 */
public final class TraceSample {
  /** No update is followed. */
  public static final TraceSample NONE = new TraceSample(0);

  /** The largest number of {@link TraceStream#drawn} that is followed; −1 for none. */
  private final long drawnMax;

  private final double share;

  private TraceSample(double share) {
    this.share = share;
    this.drawnMax = share == 0 ? -1 : (long) (share * 0x1p63) - 1;
  }

  /**
   * So many of all.
   *
   * @param share from 0 to 1
   * @throws IllegalArgumentException if it is anything else
   */
  public static TraceSample of(double share) {
    if (!(share >= 0 && share <= 1)) {
      throw new IllegalArgumentException("a share is a number from 0 to 1, not " + share);
    }
    return share == 0 ? NONE : new TraceSample(share);
  }

  /** Whether no update is followed. */
  public boolean isNone() {
    return drawnMax < 0;
  }

  /** Whether an update is followed. */
  public boolean takes(TraceStream stream, long number) {
    return drawnMax >= 0 && stream.drawn(number) <= drawnMax;
  }

  @Override
  public String toString() {
    return Double.toString(share);
  }
}
