package io.osier.bench.client;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Makes calls at a fixed rate, whatever becomes of the former ones, and measures each from the
 * moment at which it was to be made: those that a stall holds up count with all of their waiting.
 */
final class OpenLoop implements AutoCloseable {
  /** What is called, with the call's number. */
  @FunctionalInterface
  interface Target {
    void call(long number, Driver.Done done);
  }

  /** Calls that are due within this time are made together: parking takes about as long. */
  private static final long PARK_NANOS = 50_000;

  private final Calls calls;
  private final Target target;
  private final Thread thread;
  private volatile boolean stopping;

  private OpenLoop(Calls calls, Target target) {
    this.calls = calls;
    this.target = target;
    this.thread = Thread.ofPlatform().daemon(true).name("open-loop").unstarted(this::run);
  }

  /**
   * Begins.
   *
   * @param perSecond calls
   * @param seconds at most; the times of so many calls are kept
   */
  static OpenLoop start(int perSecond, double seconds, Target target) {
    Calls calls = new Calls(System.nanoTime(), perSecond, (int) (perSecond * seconds));
    OpenLoop loop = new OpenLoop(calls, target);
    loop.thread.start();
    return loop;
  }

  private void run() {
    int next = 0;
    while (!stopping && next < calls.max()) {
      long now = System.nanoTime();
      if (calls.dueNanos(next) - now > 0) {
        LockSupport.parkNanos(PARK_NANOS);
      } else {
        int number = next++;
        calls.made(next);
        target.call(number, succeeded -> calls.answered(number, System.nanoTime(), succeeded));
      }
    }
  }

  /** Whether all calls have been made that are made at most. */
  boolean isDone() {
    return calls.made() == calls.max();
  }

  /** What was measured so far. */
  Calls calls() {
    return calls;
  }

  /** Makes no more calls; those that were made are waited for, for some seconds. */
  @Override
  public void close() throws InterruptedException {
    stopping = true;
    thread.join();
    for (int i = 0; i < 1_000 && calls.open() > 0; i++) {
      Thread.sleep(10);
    }
  }

  /** The calls, with how long each took from when it was due. Thread-safe. */
  static final class Calls {
    private static final long MICROS_MAX = 600_000_000;

    private final long startNanos;
    private final int perSecond;

    /** By call, in nanoseconds and one more; 0 while it is not answered. */
    private final AtomicLongArray took;

    private final AtomicLong answered = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private volatile int made;

    /**
     * None was made.
     *
     * @param startNanos when the first is due
     * @param max how many there are at most
     */
    Calls(long startNanos, int perSecond, int max) {
      this.startNanos = startNanos;
      this.perSecond = perSecond;
      this.took = new AtomicLongArray(max);
    }

    int max() {
      return took.length();
    }

    /** When a call is due. */
    long dueNanos(int number) {
      return startNanos + (long) (number * (1e9 / perSecond));
    }

    /** So many have been made, or are about to be. */
    void made(int calls) {
      made = calls;
    }

    int made() {
      return made;
    }

    /** A call was answered, or failed. */
    void answered(int number, long nanos, boolean succeeded) {
      took.set(number, Math.max(0, nanos - dueNanos(number)) + 1);
      answered.incrementAndGet();
      if (!succeeded) {
        failed.incrementAndGet();
      }
    }

    /** How many were made and are not answered. */
    long open() {
      return made - answered.get();
    }

    /** How many failed. */
    long failed() {
      return failed.get();
    }

    /**
     * How long those took that were due in a time, in microseconds. One that is not answered counts
     * as if it were answered now; so does one that was due and not made yet.
     */
    Histogram between(long fromNanos, long toNanos, long nowNanos) {
      Histogram micros = new Histogram(MICROS_MAX, 3);
      int first = (int) Math.clamp((fromNanos - startNanos) / 1e9 * perSecond, 0, max());
      for (int i = first; i < max() && dueNanos(i) < toNanos; i++) {
        if (dueNanos(i) >= fromNanos) {
          long nanos = took.get(i);
          long micro = (nanos > 0 ? nanos - 1 : Math.max(0, nowNanos - dueNanos(i))) / 1_000;
          micros.recordValue(Math.min(MICROS_MAX, micro));
        }
      }
      return micros;
    }
  }
}
