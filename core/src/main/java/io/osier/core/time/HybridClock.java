package io.osier.core.time;

/**
 * A hybrid logical clock (Kulkarni, Demirbas and others, 2014): timestamps that follow physical
 * time and never contradict causality.
 *
 * <p>A timestamp is one long: 48 bits of milliseconds since 1970, then a 16-bit counter. What
 * system time alone fails at, and the rule that answers it: it stands still or goes back (the
 * counter runs on from the last timestamp); two datacenters disagree (a timestamp that was seen is
 * never exceeded by an older local one, because {@link #observe} moves this clock past it); a
 * counter overflows (it carries into the milliseconds).
 *
 * <p>Clocks of different ranks never give the same timestamp.
 *
 * <p>Pure: physical time is passed in. Not thread-safe.
 */
public final class HybridClock {
  private static final int COUNTER_BITS = 16;

  /** How many ranks there are. */
  private static final int RANKS = 256;

  private int rank;
  private final int step;
  private long last;

  /** A clock that has given no timestamp yet. */
  public HybridClock() {
    this.rank = 0;
    this.step = 1;
  }

  /**
   * A clock that has given no timestamp yet and never gives one that a clock of another rank gives.
   *
   * @param rank its place among the clocks, at least 0; 256 ranks are told apart
   */
  public HybridClock(int rank) {
    this.rank = rank % RANKS;
    this.step = RANKS;
  }

  /** From now on it has another rank, if it has one. */
  public void setRank(int changed) {
    rank = step == 1 ? 0 : Math.floorMod(changed, RANKS);
  }

  /**
   * The next timestamp: larger than every one that this clock gave or observed.
   *
   * @param physicalMillis milliseconds since 1970
   */
  public long next(long physicalMillis) {
    long next = Math.max(last + 1, physicalMillis << COUNTER_BITS);
    last = next + Math.floorMod(rank - next, step);
    return last;
  }

  /** Makes sure that the next timestamp is larger than this one, which was seen in an update. */
  public void observe(long timestamp) {
    last = Math.max(last, timestamp);
  }

  /** The largest timestamp given or observed so far, 0 if none. */
  public long last() {
    return last;
  }
}
