package io.osier.bench.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/** Does something again and again, on a thread of its own. */
final class Repeated implements AutoCloseable {
  private final Thread thread;
  private volatile boolean ended;
  private volatile Optional<RuntimeException> failure = Optional.empty();

  Repeated(int millis, Runnable what) {
    thread =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  try {
                    while (!ended) {
                      what.run();
                      LockSupport.parkNanos(millis * 1_000_000L);
                    }
                  } catch (RuntimeException e) {
                    failure = Optional.of(e);
                  }
                });
  }

  void check() {
    assertThat(failure).isEmpty();
  }

  @Override
  public void close() {
    ended = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
