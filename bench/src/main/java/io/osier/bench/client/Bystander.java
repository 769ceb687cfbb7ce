package io.osier.bench.client;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.proxy.CounterHandle;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import org.jspecify.annotations.Nullable;

/**
 * Who has nothing to do with what others do to large objects, but may have to wait for it:
 * increments a counter all the time, one call after the other.
 */
final class Bystander implements AutoCloseable {
  private final CounterHandle counter;
  private final Recorder nanos = new Recorder(3);
  private final AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
  private final Thread thread;
  private volatile boolean closed;

  /** When the call began that is under way. */
  private volatile long begunNanos = System.nanoTime();

  /** Begins at once. */
  Bystander(CounterHandle counter) {
    this.counter = counter;
    this.thread = Thread.ofPlatform().name("bystander").daemon(true).start(this::run);
  }

  /** What is done meanwhile. */
  interface Action {
    /** Does it. */
    void run() throws InterruptedException;
  }

  private void run() {
    try {
      while (!closed) {
        long begin = System.nanoTime();
        begunNanos = begin;
        counter.increment(1);
        nanos.recordValue(System.nanoTime() - begin);
      }
    } catch (RuntimeException e) {
      failure.set(e);
    }
  }

  /**
   * How long a call took at most while something was done, the one that was under way at the end
   * included, in milliseconds.
   */
  double longestMillis(Action action) throws InterruptedException {
    nanos.reset();
    action.run();
    long end = System.nanoTime();
    while (begunNanos - end < 0) {
      RuntimeException failed = failure.get();
      if (failed != null) {
        throw new OsierException(ErrorCode.INTERNAL, "an increment failed: " + failed, failed);
      }
      Thread.sleep(1);
    }
    Histogram all = nanos.getIntervalHistogram();
    return all.getMaxValue() / 1e6;
  }

  @Override
  public void close() {
    closed = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
