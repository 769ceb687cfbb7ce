package io.osier.core.memory;

/**
 * Helps all places that catch every error: running out of memory must not be swallowed there. The
 * threads that it hit have lost their work, and threads that wait for them would wait for ever.
 * Thread-safe.
 */
public final class OutOfMemory {
  /** The longest chain of causes that is looked at: there may be a circle. */
  private static final int CAUSES_MAX = 20;

  private OutOfMemory() {}

  /** Whether an error is that the memory is used up, or was caused by that. */
  public static boolean isCauseOf(Throwable error) {
    Throwable cause = error;
    for (int i = 0; i < CAUSES_MAX && cause != null; i++) {
      if (cause instanceof OutOfMemoryError) {
        return true;
      }
      cause = cause.getCause();
    }
    return false;
  }

  /**
   * Hands an error to the thread's handler of uncaught exceptions if the memory is used up, as if
   * it had not been caught; otherwise does nothing. That handler decides whether the process ends:
   * a server's does, an embedding program's may do something else.
   */
  public static void report(Throwable error) {
    if (isCauseOf(error)) {
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, error);
    }
  }
}
