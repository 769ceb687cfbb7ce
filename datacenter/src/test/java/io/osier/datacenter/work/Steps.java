package io.osier.datacenter.work;

import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicLong;

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

  private static long once(Runnable action) {
    long steps = count;
    long bytes = THREADS.getCurrentThreadAllocatedBytes();
    action.run();
    return count - steps + (THREADS.getCurrentThreadAllocatedBytes() - bytes) / BYTES_A_STEP;
  }
}
