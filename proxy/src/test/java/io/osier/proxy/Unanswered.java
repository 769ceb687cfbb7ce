package io.osier.proxy;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** Clients whose time does not pass, so that a call ends when it is answered or given up. */
final class Unanswered {
  private Unanswered() {}

  /** One of a datacenter in its process, with room for 50 calls. */
  static OsierClient client(InProcess eu) {
    return SteppedClient.of(
        settings(),
        new Still(),
        changed -> List.of(SteppedClient.local(eu, settings(), new Still())));
  }

  /** One without a datacenter. */
  static OsierClient nowhere() {
    return SteppedClient.of(settings(), new Still(), changed -> List.of());
  }

  private static OsierClient.Builder settings() {
    return OsierClient.builder().timeout(Duration.ofDays(1)).inFlightMax(50);
  }

  /** No time passes. */
  private static final class Still implements Timers {
    @Override
    public long nanoTime() {
      return 7;
    }

    @Override
    public long pauseMillis(long longest) {
      return longest;
    }

    @Override
    public UUID newId() {
      return new UUID(1, 2);
    }

    @Override
    public void later(Runnable action, long millis) {}

    @Override
    public void close() {}
  }

  static List<Consumer<CompletableFuture<?>>> waysToGiveUp() {
    return List.of(
        f -> f.cancel(true),
        f -> f.completeExceptionally(new IllegalStateException("as the test wants")),
        f -> f.complete(null),
        f -> f.obtrudeException(new IllegalStateException("as the test wants")),
        f -> f.orTimeout(1, TimeUnit.DAYS).completeExceptionally(new TimeoutException()));
  }
}
