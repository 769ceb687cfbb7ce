package io.osier.propagation.receive;

/**
 * Records when a peer was heard, which of its silences were outages, and how long its frames take.
 * Not thread-safe.
 */
public final class StreamLiveness {
  private long heardNanos;

  /** The peer's silence until then means nothing: see {@link Quiescence}. */
  private long excusedNanos;

  private long outageUntilMillis;
  private long shortestWayMillis = Long.MAX_VALUE;
  private boolean wasSilent;
  private long silentUntilNanos;

  StreamLiveness(long nowNanos) {
    this.heardNanos = nowNanos;
    this.excusedNanos = nowNanos;
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
