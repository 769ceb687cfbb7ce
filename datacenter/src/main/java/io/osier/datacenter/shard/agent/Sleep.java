package io.osier.datacenter.shard.agent;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * A thread's sleep until a time, and its end by others. No wake-up is lost, so none needs a
 * time-out to be made good: the sleeper announces that it will sleep, <em>then</em> looks whether
 * there is something to do, and sleeps if there is not; others bring something and <em>then</em>
 * {@link #wake} it. What came before the look is seen by it; who came after the look sees the
 * announcement, and ends the sleep even before it has begun.
 */
final class Sleep {
  /** A thread that can sleep, as {@link LockSupport} has it. */
  interface Sleeper {
    /** Sleeps for a time, or until {@link #unpark}, also one before. Only for the thread itself. */
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

  /** Until when it sleeps at the latest, or AWAKE. */
  private volatile long until = AWAKE;

  Sleep(Sleeper sleeper) {
    this.sleeper = sleeper;
  }

  /**
   * Sleeps unless there is something to do. Only for the thread itself.
   *
   * @param due until when; Long.MIN_VALUE for not at all. It may wait for a lock, and take a
   *     wake-up for its own by that
   * @param busy whether there is something to do; waits for nothing, for it is asked last
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
   * Whether it looks once more what there is to do before it sleeps. For any thread that has
   * brought something.
   */
  boolean isAwake() {
    return until == AWAKE;
  }

  /** Ends the sleep. For any thread that has brought something. */
  void wake() {
    if (until != AWAKE) {
      sleeper.unpark();
    }
  }

  /** Ends the sleep if it goes on beyond a time. For any thread that has made something due. */
  void wakeBefore(long nanos) {
    if (until > nanos) {
      sleeper.unpark();
    }
  }
}
