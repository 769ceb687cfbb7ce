package io.osier.core.time;

/**
 * A hybrid logical clock (Kulkarni, Demirbas and others, 2014): timestamps that follow physical
 * time and never contradict causality.
 *
 * <p>A timestamp is one long: 48 bits of milliseconds since 1970, then a 16-bit counter. Where
 * system time alone fails: if it stands still or goes back, the counter runs on from the last
 * timestamp; if two datacenters disagree, {@link #observe} moves this clock past a timestamp that
 * was seen, so that a later local one is never smaller; if the counter overflows, it carries into
 * the milliseconds.
 *
 * <p>Clocks of different ranks never give the same timestamp.
 *
 * <p>Pure: physical time is passed in. Not thread-safe.
 */
public final class HybridClock {
  private static final int COUNTER_BITS = 16;

  /** The number of ranks. */
  private static final int RANKS = 256;

  private int rank;
  private final int step;
  private long last;

  /** Creates a clock that has given no timestamp yet. */
  public HybridClock() {
    this.rank = 0;
    this.step = 1;
  }

  /**
   * Creates a clock that has given no timestamp yet and never gives the same one as a clock of
   * another rank.
   *
   * @param rank its place among the clocks, at least 0; 256 ranks are distinguished
   */
  public HybridClock(int rank) {
    this.rank = rank % RANKS;
    this.step = RANKS;
  }

  /** Changes the rank, if the clock has one. */
  public void setRank(int changed) {
    rank = step == 1 ? 0 : Math.floorMod(changed, RANKS);
  }

  /**
   * Returns the next timestamp: larger than every one that this clock gave or observed.
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

  /** Returns the largest timestamp given or observed so far; 0 if none. */
  public long last() {
    return last;
  }
}
