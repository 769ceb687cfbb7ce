package io.osier.bench.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The threads of a load or of faults, of which it is told if one ends too early or not at all. */
public final class Workers {
  private static final long LAST_CALL_MILLIS = 300_000;

  private final Consumer<String> broken;
  private final List<Thread> threads = new ArrayList<>();

  public Workers(Consumer<String> broken) {
    this.broken = broken;
  }

  /** Starts one. What ends by an exception does no more: what follows it checks less. */
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

  /** Waits for their ends, which somebody has asked for. */
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
