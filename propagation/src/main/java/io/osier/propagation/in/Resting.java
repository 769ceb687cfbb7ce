package io.osier.propagation.in;

import io.osier.propagation.host.Surroundings;

/**
 * How often datacenters hear of each other while they are at rest: all are connected, each has what
 * the others have, and nobody waits for anything. Then nothing depends on hearing of one another
 * soon, and signs of life come with growing pauses. When the rest ends, whoever was not heard
 * meanwhile is not silent because of that: the silence counts from the end of the rest on.
 */
public final class Resting {
  /** So often are pauses doubled: to two times {@code streams.retry}. */
  public static final int DOUBLINGS_MAX = 2;

  private Resting() {}

  /** The pause between two signs of life that is doubled. */
  static long pauseNanos(Surroundings around) {
    return around.retryNanos() / 2;
  }

  /**
   * When the next sign of life is due. With the longest pause all partitions of a process give
   * theirs at the same times, so that they leave together and wake the other end once.
   *
   * @param doublings of the pause, at most {@link #DOUBLINGS_MAX}
   */
  public static long nextNanos(Surroundings around, long lastNanos, int doublings) {
    long pause = pauseNanos(around) << doublings;
    return doublings < DOUBLINGS_MAX
        ? lastNanos + pause
        : lastNanos + pause - Math.floorMod(lastNanos, pause);
  }

  /** So much longer than otherwise may somebody at rest not be heard. */
  static long excusedNanos(Surroundings around) {
    return (pauseNanos(around) << DOUBLINGS_MAX) - pauseNanos(around);
  }
}
