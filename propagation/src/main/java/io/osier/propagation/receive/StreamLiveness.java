package io.osier.propagation.receive;

/**
 * Records when a peer was heard, which of its silences were outages, and how long its frames take.
 * Not thread-safe.
 */
public final class StreamLiveness {
  /** For how long at least a measurement of the peer's clock counts, and at most twice as long. */
  private static final long CLOCK_NANOS = 30_000_000_000L;

  private long heardNanos;

  /** By how much the peer's clock was ahead since {@link #clockNanos}, and in the time before. */
  private long aheadMillis = Long.MIN_VALUE;

  private long formerAheadMillis = Long.MIN_VALUE;
  private long clockNanos;

  /** The peer's silence until then means nothing: see {@link Quiescence}. */
  private long excusedNanos;

  private long outageUntilMillis;
  private long shortestWayMillis = Long.MAX_VALUE;
  private boolean wasSilent;
  private long silentUntilNanos;

  StreamLiveness(long nowNanos) {
    this.heardNanos = nowNanos;
    this.excusedNanos = nowNanos;
    this.clockNanos = nowNanos;
  }

  /**
   * Notes a sign of life. A long silence before it means that everything sent until now was
   * delayed. If the silence may have been rest, the time that this frame took decides.
   *
   * @param wayMillis how long the frame took, by the two wall clocks; Long.MIN_VALUE if that is
   *     unknown
   */
  public void heard(long nowNanos, long nowMillis, long silenceNanosMax, long wayMillis) {
    boolean isSilent = nowNanos - aliveNanos() > silenceNanosMax;
    boolean mayBeSilent = nowNanos - heardNanos > silenceNanosMax;
    if (isSilent || (mayBeSilent && isDelayed(wayMillis, silenceNanosMax / 1_000_000))) {
      outageUntilMillis = nowMillis;
      wasSilent = true;
      silentUntilNanos = nowNanos;
    }
    heardNanos = nowNanos;
    if (nowNanos - clockNanos >= CLOCK_NANOS) {
      formerAheadMillis = aheadMillis;
      aheadMillis = Long.MIN_VALUE;
      clockNanos = nowNanos;
    }
    if (wayMillis != Long.MIN_VALUE) {
      aheadMillis = Math.max(aheadMillis, -wayMillis);
    }
  }

  /**
   * Returns by how many milliseconds the peer's clock is ahead of the one here, at least: a frame
   * that seems to come before it was sent shows that. 0 if none did in the last half minute.
   */
  public long aheadMillis() {
    return Math.max(0, Math.max(aheadMillis, formerAheadMillis));
  }

  private boolean isDelayed(long wayMillis, long byMillis) {
    return delayNanos(wayMillis) > byMillis * 1_000_000;
  }

  /**
   * Returns how much longer a frame took than the fastest one of the stream; 0 if that is unknown.
   *
   * @param wayMillis how long it took, by the two wall clocks; Long.MIN_VALUE if that is unknown
   */
  public long delayNanos(long wayMillis) {
    return wayMillis == Long.MIN_VALUE || shortestWayMillis == Long.MAX_VALUE
        ? 0
        : Math.max(0, wayMillis - shortestWayMillis) * 1_000_000;
  }

  /**
   * Excuses the peer's silence up to now, since all datacenters are at rest.
   *
   * @param nanosMax a longer silence is not excused
   */
  void excuse(long nowNanos, long nanosMax) {
    excusedNanos = Math.min(nowNanos, heardNanos + nanosMax);
  }

  /** Returns when the peer was last heard, or until when its silence was excused. */
  public long aliveNanos() {
    return Math.max(heardNanos, excusedNanos);
  }

  boolean wasOutage(long sentMillis) {
    return sentMillis <= outageUntilMillis;
  }

  /** Notes how long a frame of updates took, by the two wall clocks. */
  void arrived(long sentMillis, long nowMillis) {
    shortestWayMillis = Math.min(shortestWayMillis, nowMillis - sentMillis);
  }

  /** Returns the shortest time that a frame of updates took; Long.MAX_VALUE before the first. */
  long shortestWayMillis() {
    return shortestWayMillis;
  }

  /**
   * Notes that an update came that an outage had held up: the outage ends with the last of those.
   */
  void heldUp(long nowNanos) {
    wasSilent = true;
    silentUntilNanos = nowNanos;
  }

  /**
   * Whether since {@code nanos} the sender was heard again after a silence, or sent delayed
   * updates.
   */
  boolean wasSilentAfter(long nanos) {
    return wasSilent && silentUntilNanos >= nanos;
  }

  /** Returns when the sender was last heard: requests from before then are answered or lost. */
  public long heardNanos() {
    return heardNanos;
  }
}
