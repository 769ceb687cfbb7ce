package io.osier.datacenter.copies;

/**
 * Decides when an object that others hold is worth a copy: compares what its forwarded reads cost
 * with what the holder ships for its changes. Both are in bytes for one period; each millisecond of
 * a read's round trip counts as some bytes, too. Pure.
 *
 * @param msWorth how many bytes a millisecond of waiting is worth
 */
public record CopyRule(double msWorth) {
  /**
   * The least reads in a period, as a mean, for which an object is followed. The mean of three
   * reads in one period is more, that of two is less.
   */
  static final double READS_MIN = 0.7;

  /**
   * The least reads in a period, as a mean, with which a copy goes on, whatever it costs. Much less
   * than to begin, since reads that come once in a period on average leave out several periods now
   * and then.
   */
  static final double KEPT_READS_MIN = READS_MIN / 8;

  /** How many times its cost a copy must save to begin, so that noise changes nothing. */
  static final double CLEARLY = 2;

  /** The most periods after which an object whose copy was not worth it is followed again. */
  static final int PAUSE_MAX = 64;

  /** Returns what the reads of a period cost if they are forwarded, in bytes. */
  double saved(Demand demand, double roundTripMillis) {
    return demand.reads() * (demand.bytesPerRead() + roundTripMillis * msWorth);
  }

  /**
   * Returns whether a copy is to begin.
   *
   * @param now the number of the present period
   */
  boolean begins(Demand demand, double roundTripMillis, long now) {
    return now >= demand.notBefore()
        && demand.reads() >= READS_MIN
        && saved(demand, roundTripMillis) >= CLEARLY * demand.shippedBytes();
  }

  /** Returns whether a copy is to go on. */
  boolean stays(Demand demand, double roundTripMillis) {
    return demand.reads() >= KEPT_READS_MIN
        && saved(demand, roundTripMillis) >= demand.shippedBytes();
  }
}
