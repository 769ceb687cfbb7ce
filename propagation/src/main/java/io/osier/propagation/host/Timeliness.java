package io.osier.propagation.host;

/**
 * Whether a peer gets updates in time, as its sender knows. Of updates that are a few hundred
 * milliseconds late, only the receiver knows ({@link LateCounts}).
 *
 * @param confirmed the updates that the peer has confirmed since it became a peer and since the
 *     sender's start
 * @param late those of them that came later than the staleness bound, or than a second without one
 * @param overdue updates that it has not confirmed though they are older than that; updates that it
 *     has lost after it confirmed them count only in its lag
 */
public record Timeliness(long confirmed, long late, long overdue) {
  /** The counts when nothing was committed. */
  public static final Timeliness NONE = new Timeliness(0, 0, 0);

  /** Returns the sum of both. */
  public Timeliness plus(Timeliness other) {
    return new Timeliness(confirmed + other.confirmed, late + other.late, overdue + other.overdue);
  }
}
