package io.osier.bench.client;

import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * Keeps a number of calls in flight for a time and measures each. Either whoever hears an answer
 * makes the next call at once, which is how an asynchronous program uses a client; or so many
 * threads make calls, as those of a server would.
 */
public final class Driver {
  /** What is measured: makes one call, and tells when its answer is there. */
  @FunctionalInterface
  public interface Target {
    void call(Done done);
  }

  /** Hears of an answer. */
  @FunctionalInterface
  public interface Done {
    /** An answer is there, or a failure. */
    void done(boolean succeeded);
  }

  /**
   * What a run came to.
   *
   * @param nanos how long each call took
   */
  public record Outcome(double perSecond, Histogram nanos, long failures) {}

  private final Target target;
  private final int inFlight;
  private final Semaphore free;
  private final ConcurrentHistogram nanos = new ConcurrentHistogram(3);
  private final LongAdder failures = new LongAdder();
  private volatile boolean stopping;

  private Driver(Target target, int inFlight) {
    this.target = target;
    this.inFlight = inFlight;
    this.free = new Semaphore(inFlight);
    nanos.setAutoResize(true);
  }

  /**
   * Runs calls.
   *
   * @param threads how many threads make calls; 0: those that hear the answers do
   */
  public static Outcome run(Target target, int inFlight, int threads, double seconds)
      throws InterruptedException {
    return new Driver(target, inFlight).run(threads, seconds);
  }

  private Outcome run(int threads, double seconds) throws InterruptedException {
    long start = System.nanoTime();
    Thread[] callers = new Thread[threads];
    for (int i = 0; i < threads; i++) {
      callers[i] = Thread.ofPlatform().daemon(true).name("caller-" + i).start(this::callMany);
    }
    if (threads == 0) {
      free.acquire(inFlight);
      for (int i = 0; i < inFlight; i++) {
        callAgain();
      }
    }
    Thread.sleep((long) (seconds * 1_000));
    stopping = true;
    for (Thread caller : callers) {
      caller.join();
    }
    free.acquire(inFlight);
    double took = (System.nanoTime() - start) / 1e9;
    return new Outcome(nanos.getTotalCount() / took, nanos, failures.sum());
  }

  private void callAgain() {
    long start = System.nanoTime();
    target.call(
        succeeded -> {
          count(start, succeeded);
          // After a failure this one stays away: one that fails at once would call itself for ever.
          if (stopping || !succeeded) {
            free.release();
          } else {
            callAgain();
          }
        });
  }

  private void callMany() {
    while (!stopping) {
      free.acquireUninterruptibly();
      long start = System.nanoTime();
      target.call(
          succeeded -> {
            count(start, succeeded);
            free.release();
          });
    }
  }

  private void count(long start, boolean succeeded) {
    if (succeeded) {
      nanos.recordValue(System.nanoTime() - start);
    } else {
      failures.increment();
    }
  }
}
