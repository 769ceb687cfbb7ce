package io.osier.adaptation;

import java.util.Locale;

/** Decides for one object between the modes. Pure. */
interface SwitchPolicy {
  /**
   * The mode that the object should have.
   *
   * @param current the mode it has: leaving it takes a clearer case than keeping it
   */
  Mode decide(Sensor sensor, Mode current, Conditions conditions);

  /** What it compares, in words. */
  String explain(Sensor sensor, Conditions conditions);

  /** What is said where nothing may be held at all. */
  String NO_TIME = "the bound leaves no time to hold anything: operations";

  /**
   * The thesis's rule (seeds/000, 3.3): the updates expected in a window of δ over the object's
   * size, above a threshold.
   */
  final class Ratio implements SwitchPolicy {
    /**
     * The threshold to come back is lower by this factor, so that noise around it switches nothing.
     */
    private static final double HYSTERESIS = 0.7;

    private static final double UNIT_BYTES = 1024;

    private final double threshold;

    Ratio(double threshold) {
      this.threshold = threshold;
    }

    @Override
    public Mode decide(Sensor sensor, Mode current, Conditions conditions) {
      if (conditions.holdNanos() <= 0) {
        return Mode.OP;
      }
      double ratio = ratio(sensor, conditions);
      double limit = current == Mode.STATE ? threshold * HYSTERESIS : threshold;
      return ratio > limit ? Mode.STATE : Mode.OP;
    }

    private static double ratio(Sensor sensor, Conditions conditions) {
      double updates = sensor.perSecond() * conditions.slaNanos() / 1e9;
      return updates / Math.max(sensor.objectBytes() / UNIT_BYTES, 1.0 / UNIT_BYTES);
    }

    @Override
    public String explain(Sensor sensor, Conditions conditions) {
      return conditions.holdNanos() <= 0
          ? NO_TIME
          : String.format(
              Locale.ROOT,
              "%.1f updates for each KiB within the bound, states above %.1f",
              ratio(sensor, conditions),
              threshold);
    }
  }

  /**
   * Compares what the object costs for each update in each mode, in bytes on the links plus the
   * work at both ends expressed in bytes.
   *
   * <p>As operations: every update is shipped and applied by every peer. As states: one join into
   * the waiting delta for each update, and one flush for those of a window. A window opens with an
   * update and lasts as long as that may be held, so a flush carries it and all that come in that
   * time (a little less in a causal keyspace, where the oldest window closes all). An object of
   * which a flush would carry less than about {@link #UPDATES_MIN} gains little and only comes
   * later, so it stays with operations.
   */
  final class Cost implements SwitchPolicy {
    /** Fewer updates than this in a flush are not worth holding back: half of the shipments. */
    private static final double UPDATES_MIN = 2.0;

    /** The other mode must be cheaper by this factor, so that noise switches nothing. */
    private static final double HYSTERESIS = 0.8;

    /** The join of one update into the waiting delta at the sender, as bytes. */
    private static final double JOIN_COST = 15;

    @Override
    public Mode decide(Sensor sensor, Mode current, Conditions conditions) {
      if (conditions.holdNanos() <= 0) {
        return Mode.OP;
      }
      double joined = joined(sensor, conditions);
      double min = current == Mode.STATE ? UPDATES_MIN * HYSTERESIS : UPDATES_MIN;
      if (joined < min) {
        return Mode.OP;
      }
      double op = op(sensor, conditions);
      double state = state(sensor, joined, conditions);
      return switch (current) {
        case OP -> state < op * HYSTERESIS ? Mode.STATE : Mode.OP;
        case STATE -> op < state * HYSTERESIS ? Mode.OP : Mode.STATE;
      };
    }

    /** So many updates would be in a flush. */
    private static double joined(Sensor sensor, Conditions conditions) {
      return 1 + sensor.perSecond() * conditions.holdNanos() / 1e9;
    }

    /** What an update costs as an operation. */
    private static double op(Sensor sensor, Conditions conditions) {
      return Math.max(1, conditions.peers()) * (sensor.opBytes() + conditions.shipmentCost());
    }

    /** What an update costs in a flush of so many. */
    private static double state(Sensor sensor, double joined, Conditions conditions) {
      double flush = sensor.flushBytes(joined) + conditions.shipmentCost();
      return JOIN_COST + Math.max(1, conditions.peers()) * flush / joined;
    }

    @Override
    public String explain(Sensor sensor, Conditions conditions) {
      if (conditions.holdNanos() <= 0) {
        return NO_TIME;
      }
      double joined = joined(sensor, conditions);
      long holdMillis = conditions.holdNanos() / 1_000_000;
      return joined < UPDATES_MIN
          ? String.format(
              Locale.ROOT,
              "%.1f updates would leave together after %d ms, worth it from %.0f on",
              joined,
              holdMillis,
              UPDATES_MIN)
          : String.format(
              Locale.ROOT,
              "an update costs %.0f B as an operation, %.0f B with %.0f others after %d ms",
              op(sensor, conditions),
              state(sensor, joined, conditions),
              joined - 1,
              holdMillis);
    }
  }
}
