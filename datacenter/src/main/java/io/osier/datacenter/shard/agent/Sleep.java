package io.osier.datacenter.shard.agent;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Lets a thread sleep until a time or until another thread wakes it. No wake-up is lost, so no
 * time-out is needed: the sleeper announces that it will sleep, <em>then</em> checks whether there
 * is work, and sleeps if there is none; others bring work and <em>then</em> {@link #wake} it. The
 * check sees work that came before it; who brings work after the check sees the announcement, and
 * ends the sleep even before it has begun.
 */
final class Sleep {
  /** A thread that can sleep, like {@link LockSupport}. */
  interface Sleeper {
    /**
     * Sleeps for a time, or until {@link #unpark}, even an earlier one. Only for the thread itself.
     */
    void park(long nanos);

    /** Ends the sleep, or the next one. For any thread. */
    void unpark();

    static Sleeper of(Thread thread) {
      return new Sleeper() {
        @Override
        public void park(long nanos) {
          LockSupport.parkNanos(thread, nanos);
        }

        @Override
        public void unpark() {
          LockSupport.unpark(thread);
        }
      };
    }
  }

  private static final long AWAKE = Long.MIN_VALUE;

  private final Sleeper sleeper;

  /** The latest time until which the thread sleeps, or AWAKE. */
  private volatile long until = AWAKE;

  Sleep(Sleeper sleeper) {
    this.sleeper = sleeper;
  }

  /**
   * Sleeps unless there is work. Only for the thread itself.
   *
   * @param due returns the latest time to wake up; Long.MIN_VALUE for no sleep. It may wait for a
   *     lock and consume a wake-up by that
   * @param busy returns whether there is work; asked last, so it must not wait for anything
   */
  void unlessBusy(LongSupplier due, BooleanSupplier busy, Time time) {
    until = Long.MAX_VALUE;
    long dueNanos = due.getAsLong();
    if (dueNanos != AWAKE && !busy.getAsBoolean()) {
      until = dueNanos;
      long nanos = dueNanos - time.nanos();
      if (nanos > 0) {
        sleeper.park(nanos);
      }
    }
    until = AWAKE;
  }

  /**
   * Returns whether the thread will check for work once more before it sleeps. For any thread that
   * has brought work.
   */
  boolean isAwake() {
    return until == AWAKE;
  }

  /** Ends the sleep. For any thread that has brought work. */
  void wake() {
    if (until != AWAKE) {
      sleeper.unpark();
    }
  }

  /** Ends the sleep if it would go on beyond this time. For any thread that has made work due. */
  void wakeBefore(long nanos) {
    if (until > nanos) {
      sleeper.unpark();
    }
  }
}
