package io.osier.bench.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Threads, of which those are reported that end by an exception or hang. Not thread-safe. */
public final class Workers {
  private static final long LAST_CALL_MILLIS = 300_000;

  private final Consumer<String> broken;
  private final List<Thread> threads = new ArrayList<>();

  public Workers(Consumer<String> broken) {
    this.broken = broken;
  }

  /**
   * Starts a thread. If it ends by an exception that is reported, since the run then checks less.
   */
  public void start(String name, Runnable body) {
    threads.add(
        Thread.ofPlatform()
            .name(name)
            .daemon(true)
            .start(
                () -> {
                  try {
                    body.run();
                  } catch (RuntimeException e) {
                    broken.accept(name + " ended by " + e);
                  }
                }));
  }

  /** Waits up to five minutes for the end of each thread, after the caller has told them to end. */
  public void join() {
    for (Thread thread : threads) {
      try {
        thread.join(LAST_CALL_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      if (thread.isAlive()) {
        broken.accept(thread.getName() + " hangs");
      }
    }
  }
}
