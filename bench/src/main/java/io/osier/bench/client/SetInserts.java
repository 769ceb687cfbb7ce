package io.osier.bench.client;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.proxy.SetHandle;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Inserts distinct elements of {@value #ELEMENT_BYTES} bytes into one set: the element of each
 * number, which has nothing to do with its place in the set's order. Used by one thread.
 */
final class SetInserts {
  static final int ELEMENT_BYTES = 10;

  /** So many elements are in one request where how long it takes is not measured. */
  private static final int BATCH = 10_000;

  private final SetHandle set;
  private final int inFlight;
  private final ConcurrentHistogram nanos = new ConcurrentHistogram(3);
  private long tookNanos;

  /** What is in the set: the elements of all numbers below. */
  private long size;

  /**
   * Nothing inserted yet.
   *
   * @param set has the elements of all numbers below the size
   * @param inFlight so many calls are under way while it is measured
   * @param size how many elements are in the set
   */
  SetInserts(SetHandle set, int inFlight, long size) {
    this.set = set;
    this.inFlight = inFlight;
    this.size = size;
    nanos.setAutoResize(true);
  }

  /** The element of a number: two numbers have never the same. */
  static Value element(long number) {
    // SplitMix64's finalizer, which maps the numbers onto themselves.
    long z = (number + 1) * 0x9E3779B97F4A7C15L;
    z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
    z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
    z ^= z >>> 31;
    return Value.of(ByteBuffer.allocate(ELEMENT_BYTES).putLong(z).putShort((short) z).array());
  }

  /** How many elements are in the set. */
  long size() {
    return size;
  }

  /** How long each of the measured inserts took. */
  Histogram nanos() {
    return nanos;
  }

  /** How long all of them took together, so many at a time as are in flight. */
  double seconds() {
    return tookNanos / 1e9;
  }

  /**
   * Inserts or removes elements in large requests until there are so many.
   *
   * @throws OsierException VALUE_TOO_LARGE if an object cannot hold so many; then {@link #size()}
   *     tells how many it holds
   */
  void resize(long wanted) {
    while (size < wanted) {
      long to = Math.min(wanted, size + BATCH);
      set.add(elements(size, to));
      size = to;
    }
    while (size > wanted) {
      long from = Math.max(wanted, size - BATCH);
      set.remove(elements(from, size));
      size = from;
    }
  }

  private static List<Value> elements(long from, long to) {
    return LongStream.range(from, to).mapToObj(SetInserts::element).toList();
  }

  /**
   * Inserts one by one and measures each, until there are so many or the time is over.
   *
   * @throws OsierException what the first insert that failed failed with; VALUE_TOO_LARGE if an
   *     object cannot hold so many
   */
  void insert(long wanted, long untilNanos) throws InterruptedException {
    new Burst(wanted, untilNanos).run();
  }

  private final class Burst {
    private final long wanted;
    private final long untilNanos;
    private final AtomicLong next = new AtomicLong(size);
    private final Semaphore ended = new Semaphore(0);
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    Burst(long wanted, long untilNanos) {
      this.wanted = wanted;
      this.untilNanos = untilNanos;
    }

    void run() throws InterruptedException {
      long start = System.nanoTime();
      for (int i = 0; i < inFlight; i++) {
        callAgain();
      }
      ended.acquire(inFlight);
      tookNanos += System.nanoTime() - start;
      Throwable failed = failure.get();
      if (failed != null) {
        throw failed instanceof OsierException e
            ? e
            : new OsierException(ErrorCode.INTERNAL, "an insert failed: " + failed, failed);
      }
      size = Math.min(wanted, next.get());
    }

    /** Whoever hears an answer makes the next call. */
    private void callAgain() {
      boolean again = true;
      while (again) {
        long number = failure.get() == null ? next.get() : wanted;
        again = false;
        if (number >= wanted || System.nanoTime() - untilNanos >= 0) {
          ended.release();
        } else if (next.compareAndSet(number, number + 1)) {
          call(number);
        } else {
          again = true;
        }
      }
    }

    private void call(long number) {
      long start = System.nanoTime();
      var unused =
          set.addAsync(List.of(element(number)))
              .whenComplete(
                  (done, error) -> {
                    if (error == null) {
                      nanos.recordValue(System.nanoTime() - start);
                    } else {
                      failure.compareAndSet(null, cause(error));
                    }
                    callAgain();
                  });
    }
  }

  private static Throwable cause(Throwable error) {
    Throwable cause = error;
    while (!(cause instanceof OsierException) && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  /** How long reads take, one after the other, in nanoseconds. */
  static Histogram readNanos(Runnable read, double seconds) {
    Histogram nanos = new Histogram(3);
    nanos.setAutoResize(true);
    long until = System.nanoTime() + (long) (seconds * 1e9);
    do {
      long start = System.nanoTime();
      read.run();
      nanos.recordValue(System.nanoTime() - start);
    } while (System.nanoTime() - until < 0);
    return nanos;
  }
}
