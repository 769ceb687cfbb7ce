package io.osier.datacenter.store;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** For how long what is read of an object's entries stays the same. Thread-safe. */
public final class LeaseTerm {
  /**
   * How long one lasts that nobody holds.
   *
   * @param recentNanos for so long others may use it, too
   * @param oldNanos after this who reads by it should take another one: long before the end
   * @param endNanos when it ends
   */
  public record Times(long recentNanos, long oldNanos, long endNanos) {
    public static final Times DEFAULT =
        new Times(
            TimeUnit.SECONDS.toNanos(2),
            TimeUnit.SECONDS.toNanos(20),
            TimeUnit.SECONDS.toNanos(60));
  }

  private final Times times;
  private final long beganNanos;

  /** When it ends at the earliest, if it was held. */
  private final AtomicLong heldUntilNanos;

  /** Until when it was held for who reads what is present. */
  private final AtomicLong presentUntilNanos;

  public LeaseTerm(Times times, long nowNanos) {
    this.times = times;
    this.beganNanos = nowNanos;
    this.heldUntilNanos = new AtomicLong(nowNanos);
    this.presentUntilNanos = new AtomicLong(nowNanos);
  }

  /** Whether others may use it, too, if what they look for is in it. */
  public boolean isRecent(long nowNanos) {
    return nowNanos - beganNanos < times.recentNanos;
  }

  /**
   * Whether who reads what is present by it should take another one: also while former versions
   * need it, or one that is changed all the time would keep it for ever.
   */
  public boolean isOld(long nowNanos) {
    return nowNanos - beganNanos > times.oldNanos && !isBefore(nowNanos, presentUntilNanos);
  }

  /** Whether it has come to its end. */
  public boolean isOver(long nowNanos) {
    return nowNanos - beganNanos > times.endNanos && !isBefore(nowNanos, heldUntilNanos);
  }

  private static boolean isBefore(long nowNanos, AtomicLong untilNanos) {
    return nowNanos - untilNanos.get() < 0;
  }

  /** Puts its end off; one who holds it for less than another does not bring it nearer. */
  public void hold(long nowNanos, int millis, boolean isPresent) {
    long until = nowNanos + TimeUnit.MILLISECONDS.toNanos(millis);
    heldUntilNanos.accumulateAndGet(until, LeaseTerm::later);
    if (isPresent) {
      presentUntilNanos.accumulateAndGet(until, LeaseTerm::later);
    }
  }

  private static long later(long one, long other) {
    return one - other > 0 ? one : other;
  }
}
