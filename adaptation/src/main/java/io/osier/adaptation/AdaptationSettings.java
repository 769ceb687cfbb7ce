package io.osier.adaptation;

import java.util.Locale;

/**
 * Settings of the adaptation of one partition.
 *
 * @param capacity counters of the summary, 1 to 1,000,000: more find the hot objects more exactly
 * @param topK how many objects may be in STATE mode, 0 to capacity
 * @param periodMillis how often is decided, 10 or more
 * @param halfLifeMillis after this time an update weighs half in the summary and the rates, at
 *     least the period: longer is steadier, shorter notices sooner
 * @param group how many objects switch in one step; 0 for all at once, which costs nothing here
 * @param stablePeriods for how many periods in a row a decision must hold before it is acted on, 1
 *     or more
 * @param policy what decides
 * @param ratioThreshold for {@link Policy#RATIO}: expected updates in a window of δ for each KiB of
 *     the object from which on it is shipped as a state
 */
public record AdaptationSettings(
    int capacity,
    int topK,
    int periodMillis,
    int halfLifeMillis,
    int group,
    int stablePeriods,
    Policy policy,
    double ratioThreshold) {

  public enum Policy {
    /** Expected updates in a window over object size, as the thesis did. */
    RATIO,
    /** Predicted bytes and CPU of each mode. */
    COST
  }

  /** 4000 counters, top 2000, each 500 ms, half-life 3 s, all at once, 2 periods, by cost. */
  public static final AdaptationSettings DEFAULT =
      new AdaptationSettings(4_000, 2_000, 500, 3_000, 0, 2, Policy.COST, 4.0);

  public AdaptationSettings {
    check("capacity", capacity, 1, 1_000_000);
    check("topK", topK, 0, capacity);
    check("periodMillis", periodMillis, 10, Integer.MAX_VALUE);
    check("halfLifeMillis", halfLifeMillis, periodMillis, Integer.MAX_VALUE);
    check("group", group, 0, Integer.MAX_VALUE);
    check("stablePeriods", stablePeriods, 1, 1_000);
    if (!(ratioThreshold > 0)) {
      throw new IllegalArgumentException("ratioThreshold must be above 0, not " + ratioThreshold);
    }
  }

  private static void check(String what, int value, int min, int max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          String.format(Locale.ROOT, "%s must be %d to %d, not %d", what, min, max, value));
    }
  }
}
