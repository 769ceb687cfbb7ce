package io.osier.propagation.transport;

/**
 * When one end of a connection is to give a sign of life, and when the other end counts as gone.
 * Any byte that comes is a sign: what was asked for may wait behind the data of a slow link. Who
 * dials asks every interval; who is dialled answers in every interval in which bytes came. Pure:
 * time is passed in, in nanoseconds of any origin. Not thread-safe.
 */
final class Liveness {
  /** What is to be done now. */
  enum Due {
    NOTHING,
    SIGN,
    DEAD
  }

  private final long signNanos;
  private final long deadNanos;
  private final boolean asks;
  private boolean greeted;
  private boolean busy;
  private boolean heard;
  private long heardNanos;
  private long signedNanos;

  /**
   * Of a connection that is open since now.
   *
   * @param signNanos the interval of signs
   * @param deadNanos after so long without a byte the other end is gone
   * @param asks whether this end asks, rather than answers
   */
  Liveness(long signNanos, long deadNanos, boolean asks, long nowNanos) {
    this.signNanos = signNanos;
    this.deadNanos = deadNanos;
    this.asks = asks;
    this.heardNanos = nowNanos;
  }

  /** Both ends have agreed to talk; from now on signs are given. */
  void greeted(long nowNanos) {
    greeted = true;
    signedNanos = nowNanos;
  }

  /** Bytes came. */
  void heard(long nowNanos) {
    heard = true;
    heardNanos = nowNanos;
  }

  /** A sign was given for another reason. */
  void signed() {
    heard = false;
  }

  /**
   * This end takes nothing for a while because it works on what has come, which the other end
   * should hear; it cannot hear the other one meanwhile.
   */
  void busy(boolean isBusy, long nowNanos) {
    busy = isBusy;
    heardNanos = nowNanos;
  }

  /** When {@link #due} has something to do, unless something happens before. */
  long dueNanos() {
    long dead = busy ? Long.MAX_VALUE : heardNanos + deadNanos;
    long sign = greeted ? signedNanos + signNanos : Long.MAX_VALUE;
    return busy || (greeted && sign - dead < 0) ? sign : dead;
  }

  /** What is to be done, which then counts as done. */
  Due due(long nowNanos) {
    if (!busy && nowNanos - heardNanos >= deadNanos) {
      return Due.DEAD;
    }
    if (!greeted || nowNanos - signedNanos < signNanos) {
      return Due.NOTHING;
    }
    signedNanos = nowNanos;
    boolean sign = asks || heard || busy;
    heard = false;
    return sign ? Due.SIGN : Due.NOTHING;
  }
}
