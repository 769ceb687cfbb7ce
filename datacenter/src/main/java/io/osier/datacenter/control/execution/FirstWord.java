package io.osier.datacenter.control.execution;

import io.osier.datacenter.partition.Partition;
import io.osier.propagation.host.PeersHeard;

/**
 * Decides whether a datacenter that has just started may follow its stored {@code _osier}. That may
 * be old, and have a keyspace or a user that was dropped since. So the datacenter waits for the
 * others, but not long: a reachable one is connected after a second, or gives a sign of life while
 * it asks whether a former process of this datacenter still runs. Pure, with time passed in;
 * thread-safe.
 */
public final class FirstWord {
  /** As long as a partition waits for a peer at its start. */
  public static final long WAIT_NANOS = Partition.JOIN_NANOS;

  /**
   * After this much more time no datacenter is waited for: a connection to a former process counts
   * as dead after five seconds, and then the peer that had it tells what it has.
   */
  static final long DEAD_NANOS = 5_000_000_000L;

  private final long waitNanos;
  private final long startNanos;

  /** When a datacenter was last in reach that had not let this one in. */
  private long heldNanos;

  /** Whether the waiting is over; then it stays so. */
  private boolean knows;

  private boolean heard;

  /**
   * @param waitNanos how long to wait for a first datacenter; after that, half as long for the
   *     others, one of which may know more
   */
  public FirstWord(long nowNanos, long waitNanos) {
    this.waitNanos = waitNanos;
    this.startNanos = nowNanos;
    this.heldNanos = nowNanos;
  }

  /**
   * Returns whether the waiting is over.
   *
   * @param from whether the data of no, some or all others is here
   * @param isHeld whether a datacenter is in reach that has not let this one in yet
   */
  public synchronized boolean knows(PeersHeard from, boolean isHeld, long nowNanos) {
    heldNanos = isHeld ? nowNanos : heldNanos;
    heard |= from != PeersHeard.NOBODY;
    long waited = nowNanos - startNanos;
    knows |=
        from == PeersHeard.ALL
            || nowNanos - heldNanos >= waitNanos
            || waited >= waitNanos + DEAD_NANOS
            || (from == PeersHeard.SOME && waited >= waitNanos / 2);
    return knows;
  }

  /**
   * Returns whether partitions must wait for their peers, too, as from the start, so that they
   * serve nothing that a datacenter in reach could correct.
   */
  boolean awaits(boolean isHeld, long nowNanos) {
    return isHeld && nowNanos - startNanos < DEAD_NANOS;
  }

  /** Returns whether the datacenter follows its stored state, and has heard no other one yet. */
  synchronized boolean isAlone() {
    return knows && !heard;
  }
}
