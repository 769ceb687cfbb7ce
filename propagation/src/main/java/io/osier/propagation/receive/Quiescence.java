package io.osier.propagation.receive;

import io.osier.propagation.host.ReplicationContext;

/**
 * Says how often datacenters send each other signs of life while they are at rest: all are
 * connected, each has what the others have, and nobody waits for anything. Then nothing depends on
 * hearing of one another soon, and the pauses grow. A datacenter that was not heard during the rest
 * does not count as silent: its silence counts from the end of the rest.
 */
public final class Quiescence {
  /**
   * The number of times that a pause is doubled: the longest is two times {@code streams.retry}.
   */
  public static final int DOUBLINGS_MAX = 2;

  private Quiescence() {}

  /** Returns the shortest pause between two signs of life, which is doubled. */
  static long pauseNanos(ReplicationContext around) {
    return around.retryNanos() / 2;
  }

  /**
   * Returns when the next sign of life is due. With the longest pause, all partitions of a process
   * send theirs at the same times, so that they leave together and wake the other end once.
   *
   * @param doublings how often the pause is doubled, at most {@link #DOUBLINGS_MAX}
   */
  public static long nextNanos(ReplicationContext around, long lastNanos, int doublings) {
    long pause = pauseNanos(around) << doublings;
    return doublings < DOUBLINGS_MAX
        ? lastNanos + pause
        : lastNanos + pause - Math.floorMod(lastNanos, pause);
  }

  /** Returns how much longer than otherwise a datacenter at rest may be silent. */
  static long excusedNanos(ReplicationContext around) {
    return (pauseNanos(around) << DOUBLINGS_MAX) - pauseNanos(around);
  }
}
