package io.osier.propagation.host;

/**
 * Whether a peer gets updates in time, by the accounts of who sends them: of what comes a few
 * hundred milliseconds too late only the receiver can tell ({@link LateCounts}).
 *
 * @param confirmed updates that it has confirmed, since it is a peer and since the sender's start
 * @param late those of them that came later than the staleness bound, or a second without one
 * @param overdue updates that it has not confirmed yet though they are older than that; what it has
 *     lost since it confirmed it is in its lag only
 */
public record Timeliness(long confirmed, long late, long overdue) {
  /** Nothing was committed. */
  public static final Timeliness NONE = new Timeliness(0, 0, 0);

  /** Both together. */
  public Timeliness plus(Timeliness other) {
    return new Timeliness(confirmed + other.confirmed, late + other.late, overdue + other.overdue);
  }
}
