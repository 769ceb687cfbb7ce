package io.osier.datacenter.control.execution;

import io.osier.datacenter.partition.Partition;
import io.osier.propagation.host.PeersHeard;

/**
 * Whether a datacenter that has just started knows what {@code _osier} says: what it stored may be
 * old, and say that a keyspace is there that was dropped, or that somebody may log in who was
 * dropped, too. So it waits for the others, but not long: whoever is in reach is connected after a
 * second, or gives a sign of life while it asks whether a former life of this one is still there.
 * Pure, with time passed in; thread-safe.
 */
public final class FirstWord {
  /** As long as a partition waits for a peer at its start. */
  public static final long WAIT_NANOS = Partition.JOIN_NANOS;

  /**
   * So much longer nobody is waited for: a connection of a former life counts as dead after five
   * seconds, and then the one that had it tells what it has.
   */
  static final long DEAD_NANOS = 5_000_000_000L;

  private final long waitNanos;
  private final long startNanos;

  /** When somebody was in reach last that had not let this one in. */
  private long heldNanos;

  /** Once that is so it stays so. */
  private boolean knows;

  private boolean heard;

  /**
   * @param waitNanos how long it waits for somebody; who has heard one waits half as long for the
   *     others, of whom one may know more
   */
  public FirstWord(long nowNanos, long waitNanos) {
    this.waitNanos = waitNanos;
    this.startNanos = nowNanos;
    this.heldNanos = nowNanos;
  }

  /**
   * Whether to wait no longer.
   *
   * @param from of how many it has what they had
   * @param isHeld whether somebody is in reach that has not let this one in yet
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
   * Whether what is there is waited for, too, as from the start: so that nothing is served of what
   * whoever is in reach would tell.
   */
  boolean awaits(boolean isHeld, long nowNanos) {
    return isHeld && nowNanos - startNanos < DEAD_NANOS;
  }

  /** Whether it goes by what it stored, and nobody has told it more yet. */
  synchronized boolean isAlone() {
    return knows && !heard;
  }
}
