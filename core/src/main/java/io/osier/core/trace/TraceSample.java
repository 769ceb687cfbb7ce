package io.osier.core.trace;

/**
 * Decides which updates are followed by a trace: a share of all, chosen by a hash of their names.
 * So all datacenters with the same share follow the same updates without telling each other, and so
 * does the client that learns an update's number from its answer. Immutable; thread-safe.
 */
public final class TraceSample {
  /** Follows no update. */
  public static final TraceSample NONE = new TraceSample(0);

  /** The largest number of {@link TraceStream#drawn} that is followed; −1 for none. */
  private final long drawnMax;

  private final double share;

  private TraceSample(double share) {
    this.share = share;
    this.drawnMax = share == 0 ? -1 : (long) (share * 0x1p63) - 1;
  }

  /**
   * Returns a sample of this share of all updates.
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
