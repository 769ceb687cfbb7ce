package io.osier.propagation.net.link;

/**
 * Decides when one end of a connection sends a sign of life, and when the other end counts as gone.
 * Any received byte is a sign, since an answer may wait behind the data of a slow link. The end
 * that dialled pings when it has written nothing for an interval. The other end answers bytes at
 * once if they come half an interval or more after its last answer, and otherwise at the interval's
 * end: so rare messages are answered where they are read. Pure: time is passed in, in nanoseconds
 * of any origin. Not thread-safe.
 */
final class LinkLiveness {
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
   * @param signNanos the interval of signs
   * @param deadNanos after this time without a byte the other end is gone
   * @param asks whether this end pings, rather than answers
   */
  LinkLiveness(long signNanos, long deadNanos, boolean asks, long nowNanos) {
    this.signNanos = signNanos;
    this.deadNanos = deadNanos;
    this.asks = asks;
    this.heardNanos = nowNanos;
  }

  /** Begins to send signs: both ends have accepted each other. */
  void greeted(long nowNanos) {
    greeted = true;
    signedNanos = nowNanos;
  }

  /** Notes that bytes came. */
  void heard(long nowNanos) {
    heard = true;
    heardNanos = nowNanos;
  }

  /** Notes that something was written, which is a sign, too. */
  void written(long nowNanos) {
    signedNanos = nowNanos;
    heard = false;
  }

  /**
   * Notes whether this end has stopped reading to work on received frames. Meanwhile it sends
   * signs, and it cannot hear the other end.
   */
  void busy(boolean isBusy, long nowNanos) {
    busy = isBusy;
    heardNanos = nowNanos;
  }

  /** Returns when {@link #due} has something to do, unless something happens before. */
  long dueNanos() {
    long dead = busy ? Long.MAX_VALUE : heardNanos + deadNanos;
    long sign = signDueNanos();
    return sign == Long.MAX_VALUE || (dead != Long.MAX_VALUE && dead - sign < 0) ? dead : sign;
  }

  private long signDueNanos() {
    if (!greeted) {
      return Long.MAX_VALUE;
    }
    if (asks || busy) {
      return signedNanos + signNanos;
    }
    if (!heard) {
      return Long.MAX_VALUE;
    }
    boolean atOnce = heardNanos - signedNanos >= signNanos / 2;
    return atOnce ? heardNanos : signedNanos + signNanos;
  }

  /** Returns the action that is due, which then counts as done. */
  Due due(long nowNanos) {
    if (!busy && nowNanos - heardNanos >= deadNanos) {
      return Due.DEAD;
    }
    long sign = signDueNanos();
    if (sign == Long.MAX_VALUE || nowNanos - sign < 0) {
      return Due.NOTHING;
    }
    written(nowNanos);
    return Due.SIGN;
  }
}
