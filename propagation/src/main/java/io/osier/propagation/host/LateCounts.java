package io.osier.propagation.host;

/**
 * Counts shipments that became visible later than the staleness bound, by the reason.
 *
 * @param origin they left so late that even the shortest way would have been too long: the origin's
 *     machine stalled, or holds updates too long
 * @param way they travelled longer than usual, and would have been in time otherwise: the link was
 *     slow, or the machine here stalled
 * @param dependency they waited here for updates that they build on, and would have been in time
 *     otherwise
 * @param outage a link had been down: their own, or that of the updates that they build on
 */
public record LateCounts(long origin, long way, long dependency, long outage) {
  public static final LateCounts NONE = new LateCounts(0, 0, 0, 0);

  /**
   * The parts of a shipment's delay, in milliseconds.
   *
   * @param ageMillis from its oldest update's commit until it was sent
   * @param wayMillis from there until it is visible
   * @param waitedMillis the part of {@code wayMillis} that it waited for other updates
   * @param shortestWayMillis the shortest that any frame of the sender took
   */
  public record Delay(long ageMillis, long wayMillis, long waitedMillis, long shortestWayMillis) {
    long millis() {
      return ageMillis + wayMillis;
    }
  }

  /** Returns the number of shipments that were late though the links were up. */
  public long violations() {
    return origin + way + dependency;
  }

  /** Returns the sum of both. */
  public LateCounts plus(LateCounts other) {
    return new LateCounts(
        origin + other.origin,
        way + other.way,
        dependency + other.dependency,
        outage + other.outage);
  }

  /** Returns what was counted since {@code earlier} counts of the same process. */
  public LateCounts minus(LateCounts earlier) {
    return new LateCounts(
        origin - earlier.origin,
        way - earlier.way,
        dependency - earlier.dependency,
        outage - earlier.outage);
  }

  LateCounts withOutage() {
    return new LateCounts(origin, way, dependency, outage + 1);
  }

  /** Returns these counts with one more shipment that was late though the links were up. */
  LateCounts with(Delay delay, long boundMillis) {
    if (delay.millis() - delay.waitedMillis <= boundMillis) {
      return new LateCounts(origin, way, dependency + 1, outage);
    }
    if (delay.ageMillis + delay.shortestWayMillis > boundMillis) {
      return new LateCounts(origin + 1, way, dependency, outage);
    }
    return new LateCounts(origin, way + 1, dependency, outage);
  }
}
