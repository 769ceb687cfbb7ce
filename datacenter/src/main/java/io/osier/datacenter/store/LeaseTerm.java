package io.osier.datacenter.store;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** The term during which a reader's view of an object's entries stays the same. Thread-safe. */
public final class LeaseTerm {
  /**
   * How long a term lasts that nobody holds, in nanoseconds from its beginning.
   *
   * @param recentNanos how long further readers may join it
   * @param oldNanos when its readers should take a new one: long before the end
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

  /** The earliest end, as far as the term was held. */
  private final AtomicLong heldUntilNanos;

  /** The time until which readers of the present state hold it. */
  private final AtomicLong presentUntilNanos;

  public LeaseTerm(Times times, long nowNanos) {
    this.times = times;
    this.beganNanos = nowNanos;
    this.heldUntilNanos = new AtomicLong(nowNanos);
    this.presentUntilNanos = new AtomicLong(nowNanos);
  }

  /** Returns whether further readers may join, if the objects they look for are in it. */
  public boolean isRecent(long nowNanos) {
    return nowNanos - beganNanos < times.recentNanos;
  }

  /**
   * Returns whether readers of the present state should take a new term. Holds for former versions
   * do not count: otherwise an object that changes all the time would keep its term for ever.
   */
  public boolean isOld(long nowNanos) {
    return nowNanos - beganNanos > times.oldNanos && !isBefore(nowNanos, presentUntilNanos);
  }

  /** Returns whether the term has ended. */
  public boolean isOver(long nowNanos) {
    return nowNanos - beganNanos > times.endNanos && !isBefore(nowNanos, heldUntilNanos);
  }

  private static boolean isBefore(long nowNanos, AtomicLong untilNanos) {
    return nowNanos - untilNanos.get() < 0;
  }

  /** Puts the end off; a shorter hold does not bring it nearer. */
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
