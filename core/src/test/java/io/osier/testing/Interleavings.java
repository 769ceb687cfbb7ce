package io.osier.testing;

import java.util.ArrayList;
import java.util.List;
import org.jetbrains.lincheck.Lincheck;
import org.jetbrains.lincheck.LincheckAssertionError;

/** Runs threads in many orders that Lincheck's model checker draws. */
public final class Interleavings {
  /** Never fewer: a fifth of them misses lost wake-ups. */
  private static final int ORDERS = Math.max(60, ScaledTries.scaled(60));

  private static final int TRIES = 20;

  private Interleavings() {}

  /**
   * Runs a scene, which starts threads and waits for their end, in 60 orders, or in more in
   * proportion to {@link ScaledTries}.
   *
   * @throws LincheckAssertionError with the order in which it throws, or never ends
   */
  public static void of(Runnable scene) {
    for (int i = 1; ; i++) {
      try {
        OneProcessor.run(() -> Lincheck.runConcurrentTest(ORDERS, scene));
        return;
      } catch (LincheckAssertionError e) {
        // Lincheck gives up a run after 30 s, which a busy machine may need to load the classes the
        // first time. For a faulty order the message names it; a scene that never ends takes ten
        // minutes to fail.
        if (i == TRIES || String.valueOf(e.getMessage()).contains("interleaving")) {
          throw e;
        }
      }
    }
  }

  /** Runs bodies in threads of their own, and waits for their ends. */
  public static void run(Runnable... bodies) {
    List<Thread> threads = new ArrayList<>();
    for (Runnable body : bodies) {
      threads.add(start(body));
    }
    threads.forEach(Interleavings::join);
  }

  public static Thread start(Runnable body) {
    Thread thread = new Thread(body);
    thread.start();
    return thread;
  }

  /** Waits for a thread's end. */
  public static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Checks a condition without an assertion library, which the model checker would interleave. */
  public static void check(boolean holds) {
    if (!holds) {
      throw new AssertionError();
    }
  }
}
