package io.osier.propagation.receive;

/**
 * When a peer was heard, what its silences meant, and how long its frames take. Not thread-safe.
 */
public final class StreamLiveness {
  private long heardNanos;

  /** Until then its silence meant nothing: see {@link Quiescence}. */
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
   * Notes a sign of life; a long silence before it means that what was sent until now was delayed.
   * Of a silence that may be rest the frame's own way tells.
   *
   * @param wayMillis how long the frame took, by the two wall clocks; Long.MIN_VALUE if it does not
   *     tell
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
   * How much longer a frame was under way than the fastest of the stream, as far as is known; 0 if
   * it was not.
   *
   * @param wayMillis how long it took, by the two wall clocks; Long.MIN_VALUE if it does not tell
   */
  public long delayNanos(long wayMillis) {
    return wayMillis == Long.MIN_VALUE || shortestWayMillis == Long.MAX_VALUE
        ? 0
        : Math.max(0, wayMillis - shortestWayMillis) * 1_000_000;
  }

  /**
   * All are at rest: that nothing was heard until now means nothing.
   *
   * @param nanosMax where it is not for longer
   */
  void excuse(long nowNanos, long nanosMax) {
    excusedNanos = Math.min(nowNanos, heardNanos + nanosMax);
  }

  /** When it was heard last, or its silence last meant nothing. */
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

  /** The shortest time that a frame of updates took; what it means assumes that one came. */
  long shortestWayMillis() {
    return shortestWayMillis;
  }

  /** Something came now that an outage had held up: it goes on until all of that has come. */
  void heldUp(long nowNanos) {
    wasSilent = true;
    silentUntilNanos = nowNanos;
  }

  /** Whether the sender was heard again after a silence, or caught up after one, since a time. */
  boolean wasSilentAfter(long nanos) {
    return wasSilent && silentUntilNanos >= nanos;
  }

  /** When something came from it last: what was asked before has been answered, or was lost. */
  public long heardNanos() {
    return heardNanos;
  }
}
