package io.osier.proxy;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Time goes on when the test lets it. */
final class Steps implements Timers {
  static final long MILLI = 1_000_000;

  private record Later(long at, int order, Runnable action) {}

  private final Queue<Later> waiting =
      new PriorityQueue<>(Comparator.comparingLong(Later::at).thenComparingInt(Later::order));
  long now = 5;
  private int order;
  private long ids;
  private boolean closed;

  @Override
  public long nanoTime() {
    return now;
  }

  @Override
  public long pauseMillis(long longest) {
    return longest;
  }

  @Override
  public UUID newId() {
    return new UUID(0, ++ids);
  }

  @Override
  public void later(Runnable action, long millis) {
    if (closed) {
      action.run();
      return;
    }
    waiting.add(new Later(now + millis * MILLI, order++, action));
  }

  void pass(long millis) {
    long end = now + millis * MILLI;
    while (!waiting.isEmpty() && waiting.peek().at <= end) {
      Later next = waiting.remove();
      now = next.at;
      next.action.run();
    }
    now = end;
  }

  @Override
  public void close() {
    closed = true;
    while (!waiting.isEmpty()) {
      waiting.remove().action.run();
    }
  }

  /** A client of these connections, with time limits of a second and room for ten calls. */
  OsierClient client(OsierClient.Builder settings, Connection... connections) {
    return SteppedClient.of(
        settings.timeout(Duration.ofSeconds(1)).inFlightMax(10),
        this,
        changed -> List.of(connections));
  }

  static ErrorCode codeOf(CompletableFuture<?> call) {
    assertThat(call).isDone();
    Throwable thrown = catchThrowable(call::join);
    assertThat(thrown).isInstanceOf(CompletionException.class);
    return ((OsierException) requireNonNull(thrown.getCause())).code();
  }
}
