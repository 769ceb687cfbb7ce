package io.osier.adaptation;

/** Decides for one object between the modes. Pure. */
interface SwitchPolicy {
  /**
   * The mode that the object should have.
   *
   * @param current the mode it has: leaving it takes a clearer case than keeping it
   */
  Mode decide(Sensor sensor, Mode current, Conditions conditions);

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
      double updates = sensor.perSecond() * conditions.slaNanos() / 1e9;
      double ratio = updates / Math.max(sensor.objectBytes() / UNIT_BYTES, 1.0 / UNIT_BYTES);
      double limit = current == Mode.STATE ? threshold * HYSTERESIS : threshold;
      return ratio > limit ? Mode.STATE : Mode.OP;
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
      double joined = 1 + sensor.perSecond() * conditions.holdNanos() / 1e9;
      double min = current == Mode.STATE ? UPDATES_MIN * HYSTERESIS : UPDATES_MIN;
      if (joined < min) {
        return Mode.OP;
      }
      int peers = Math.max(1, conditions.peers());
      double shipment = conditions.shipmentCost();
      // For each update.
      double op = peers * (sensor.opBytes() + shipment);
      double state = JOIN_COST + peers * (sensor.flushBytes(joined) + shipment) / joined;
      return switch (current) {
        case OP -> state < op * HYSTERESIS ? Mode.STATE : Mode.OP;
        case STATE -> op < state * HYSTERESIS ? Mode.OP : Mode.STATE;
      };
    }
  }
}
