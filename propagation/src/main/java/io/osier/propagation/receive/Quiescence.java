package io.osier.propagation.receive;

import io.osier.propagation.host.ReplicationContext;

/**
 * How often datacenters hear of each other while they are at rest: all are connected, each has what
 * the others have, and nobody waits for anything. Then nothing depends on hearing of one another
 * soon, and signs of life come with growing pauses. When the rest ends, whoever was not heard
 * meanwhile is not silent because of that: the silence counts from the end of the rest on.
 */
public final class Quiescence {
  /** So often are pauses doubled: to two times {@code streams.retry}. */
  public static final int DOUBLINGS_MAX = 2;

  private Quiescence() {}

  /** The pause between two signs of life that is doubled. */
  static long pauseNanos(ReplicationContext around) {
    return around.retryNanos() / 2;
  }

  /**
   * When the next sign of life is due. With the longest pause all partitions of a process give
   * theirs at the same times, so that they leave together and wake the other end once.
   *
   * @param doublings of the pause, at most {@link #DOUBLINGS_MAX}
   */
  public static long nextNanos(ReplicationContext around, long lastNanos, int doublings) {
    long pause = pauseNanos(around) << doublings;
    return doublings < DOUBLINGS_MAX
        ? lastNanos + pause
        : lastNanos + pause - Math.floorMod(lastNanos, pause);
  }

  /** So much longer than otherwise may somebody at rest not be heard. */
  static long excusedNanos(ReplicationContext around) {
    return (pauseNanos(around) << DOUBLINGS_MAX) - pauseNanos(around);
  }
}
