package io.osier.datacenter.control.execution;

import io.osier.datacenter.partition.Partition;
import io.osier.propagation.host.PeersHeard;

/**
 * Decides how long a datacenter that has just started waits for the others before it follows the
 * {@code _osier} that it stored. That may be old, and have a keyspace or a user that was dropped
 * since. The wait is over at the first of these times ({@code w} = {@link #WAIT_NANOS}):
 *
 * <ul>
 *   <li>all others have told what they have
 *   <li>w/2 after the start, if some have told
 *   <li>w after the start, or after a datacenter was last in reach that had not let this one in: it
 *       asks whether a former process of this datacenter still runs
 *   <li>w + {@link #DEAD_NANOS} after the start
 * </ul>
 *
 * <p>Pure, with time passed in; thread-safe.
 */
public final class StartupWaitRule {
  /**
   * As long as a partition waits for a peer at its start: a datacenter in reach is connected after
   * a second, or gives a sign of life.
   */
  public static final long WAIT_NANOS = Partition.JOIN_NANOS;

  /**
   * After this much more time no datacenter is waited for: a connection to a former process counts
   * as dead after five seconds, and then the peer that had it tells what it has.
   */
  static final long DEAD_NANOS = 5_000_000_000L;

  private final long waitNanos;
  private final long startNanos;

  /** When a datacenter was last in reach that had not let this one in. */
  private long heldOffNanos;

  /** Whether the wait is over; it does not begin again. */
  private boolean isOver;

  private boolean heard;

  /**
   * @param waitNanos how long to wait for a first datacenter; after that, half as long for the
   *     others, one of which may know more
   */
  public StartupWaitRule(long nowNanos, long waitNanos) {
    this.waitNanos = waitNanos;
    this.startNanos = nowNanos;
    this.heldOffNanos = nowNanos;
  }

  /**
   * Returns whether the wait is over.
   *
   * @param from whether the data of no, some or all others is here
   * @param isHeldOff whether a datacenter is in reach that has not let this one in yet
   */
  public synchronized boolean isOver(PeersHeard from, boolean isHeldOff, long nowNanos) {
    heldOffNanos = isHeldOff ? nowNanos : heldOffNanos;
    heard |= from != PeersHeard.NOBODY;
    long waited = nowNanos - startNanos;
    isOver |=
        from == PeersHeard.ALL
            || nowNanos - heldOffNanos >= waitNanos
            || waited >= waitNanos + DEAD_NANOS
            || (from == PeersHeard.SOME && waited >= waitNanos / 2);
    return isOver;
  }

  /**
   * Returns whether partitions must wait for their peers, too, as from the start, so that they
   * serve nothing that a datacenter in reach could correct.
   */
  boolean partitionsWait(boolean isHeldOff, long nowNanos) {
    return isHeldOff && nowNanos - startNanos < DEAD_NANOS;
  }

  /** Returns whether the datacenter follows its stored state, and has heard no other one yet. */
  synchronized boolean isAlone() {
    return isOver && !heard;
  }
}
