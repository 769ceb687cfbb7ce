package io.osier.datacenter.copies;

/**
 * When an object that others hold is worth a copy: what its reads cost that are forwarded, against
 * what its changes cost that a holder ships. Both are in bytes for a period; a millisecond of a
 * read's way is worth some, too. Pure.
 *
 * @param msWorth so many bytes a millisecond of waiting is worth
 */
public record CopyRule(double msWorth) {
  /**
   * An object that is read less often in a period is not followed. The mean of three reads in one
   * period is more, that of two is less.
   */
  static final double READS_MIN = 0.7;

  /**
   * A copy of one that is read less often ends, whatever it costs. So much less, since reads that
   * come once in a period in the mean leave out several periods now and then.
   */
  static final double KEPT_READS_MIN = READS_MIN / 8;

  /** To begin it must be worth so many times what it costs, so that noise changes nothing. */
  static final double CLEARLY = 2;

  /** After a copy that was not worth it, it is followed again after so many periods at most. */
  static final int PAUSE_MAX = 64;

  /** What the reads of a period cost if they are forwarded. */
  double saved(Demand demand, double roundTripMillis) {
    return demand.reads() * (demand.bytesPerRead() + roundTripMillis * msWorth);
  }

  /**
   * Whether a copy is to begin.
   *
   * @param now which period this is
   */
  boolean begins(Demand demand, double roundTripMillis, long now) {
    return now >= demand.notBefore()
        && demand.reads() >= READS_MIN
        && saved(demand, roundTripMillis) >= CLEARLY * demand.shippedBytes();
  }

  boolean stays(Demand demand, double roundTripMillis) {
    return demand.reads() >= KEPT_READS_MIN
        && saved(demand, roundTripMillis) >= demand.shippedBytes();
  }
}
