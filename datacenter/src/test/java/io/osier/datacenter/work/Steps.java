package io.osier.datacenter.work;

import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;

/**
 * Counts the work of code that {@link CountingLoader} has loaded: methods entered, loops turned,
 * items copied, and, since what the JDK does is not seen otherwise, bytes allocated. Not time: the
 * same work is the same number on every machine, however busy. Of one thread.
 */
public final class Steps {
  /** So many allocated bytes are one step: about what is copied at once. */
  private static final long BYTES_A_STEP = 32;

  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** Of sixteen times the size: linear is 16, n log n about 24, quadratic 256. */
  private static final double GROWTH_MAX = 32;

  private static long count;

  private static final AtomicLong ENCODINGS = new AtomicLong();

  private Steps() {}

  /** A method is entered or a loop turned. Called by the loaded code. */
  public static void step() {
    count++;
  }

  /** Items are copied. Called by the loaded code. */
  public static void steps(int items) {
    count += items * 8L / BYTES_A_STEP;
  }

  /** A content is encoded. Called by the loaded code, in any thread. */
  public static void encoding() {
    ENCODINGS.incrementAndGet();
  }

  /** How many contents were encoded so far. */
  public static long encodings() {
    return ENCODINGS.get();
  }

  /** The work of an action that may be done twice: the first time also links and loads. */
  public static long of(Runnable action) {
    return Math.min(once(action), once(action));
  }

  /**
   * Demands of work that it grows with its size, and not with the square of that.
   *
   * @param few a size that takes a moment
   */
  public static void demandGrowth(String scene, int few, IntConsumer work) {
    int many = 16 * few;
    work.accept(few / 4); // links and loads
    long ofFew = of(() -> work.accept(few));
    long ofMany = of(() -> work.accept(many));
    if (ofMany > GROWTH_MAX * ofFew) {
      throw new AssertionError(
          scene + ": " + few + " took " + ofFew + " steps, " + many + " took " + ofMany);
    }
  }

  private static long once(Runnable action) {
    long steps = count;
    long bytes = THREADS.getCurrentThreadAllocatedBytes();
    action.run();
    return count - steps + (THREADS.getCurrentThreadAllocatedBytes() - bytes) / BYTES_A_STEP;
  }
}
