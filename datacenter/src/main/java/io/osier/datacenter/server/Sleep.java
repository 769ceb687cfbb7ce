package io.osier.datacenter.server;

import java.util.concurrent.locks.LockSupport;

/**
 * A thread's sleep until a time, and its end by others. No wake-up is lost, and none needs a
 * time-out to be made good: the sleeper calls {@link #announce}, <em>then</em> looks whether there
 * is something to do, and if not, {@link #until}; others bring something and <em>then</em> {@link
 * #wake}. Whoever came before the look is seen by it; whoever came after it sees the announcement,
 * and ends the sleep even before it has begun.
 *
 * <p>Between the last look and {@link #until} the sleeper must not wait for anything else, which
 * might take the wake-up for its own.
 */
final class Sleep {
  private static final long AWAKE = Long.MIN_VALUE;

  private final Thread thread;

  /** Until when the thread sleeps at the latest, or AWAKE. */
  private volatile long until = AWAKE;

  Sleep(Thread thread) {
    this.thread = thread;
  }

  /** From now on others end a sleep that has not begun yet. Only for the thread itself. */
  void announce() {
    until = Long.MAX_VALUE;
  }

  /** Sleeps until a time, or until somebody ends it. Only for the thread itself. */
  void until(long dueNanos, Time time) {
    until = dueNanos;
    long nanos = dueNanos - time.nanos();
    if (dueNanos != AWAKE && nanos > 0) {
      LockSupport.parkNanos(this, nanos);
    }
  }

  /** There will be, or was, no sleep. Only for the thread itself. */
  void end() {
    until = AWAKE;
  }

  /** Ends the sleep. For any thread that has brought something. */
  void wake() {
    if (until != AWAKE) {
      LockSupport.unpark(thread);
    }
  }

  /** Ends the sleep if it goes on beyond a time. For any thread that has made something due. */
  void wakeBefore(long nanos) {
    if (until > nanos) {
      LockSupport.unpark(thread);
    }
  }
}
