package io.osier.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.proxy.future.CallFuture;
import io.osier.proxy.future.Calls;
import io.osier.testing.Patience;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A call for which several wait: who of them gives it up for all, and who leaves it to others. */
@Timeout(Patience.SECONDS) // a call's own limit is far beyond
final class SharedCallTest {
  private final FakeInProcess eu = new FakeInProcess();
  private final OsierClient client = Unanswered.client(eu);

  @AfterEach
  void close() {
    client.close();
  }

  private void assertNothingIsUnderWay() {
    assertThat(client.core().limiter().awaitEmpty(0)).as("has left its place").isTrue();
    assertThat(client.status().getFirst().inFlight()).isZero();
  }

  /** Dependents and waiting threads do not keep the call of a future that its caller gives up. */
  @Test
  void futureThatIsGivenUp_endsItsCall_whateverHangsOnIt() {
    CounterHandle counter = client.session().keyspace("shop").counter("k");
    List<Consumer<CompletableFuture<Long>>> waysToHang =
        List.of(
            f -> {
              var unusedA = f.thenAccept(x -> {});
              var unusedB = f.whenComplete((x, e) -> {});
            },
            f -> {
              var unusedA = f.thenCompose(CompletableFuture::completedFuture);
              var unusedB = f.exceptionallyComposeAsync(CompletableFuture::failedFuture);
            },
            f -> {
              CompletableFuture<Long> d = f.thenApply(x -> x);
              waiter(d);
            },
            f -> waiter(f),
            f -> {
              CompletableFuture<Long> d = f.thenApply(x -> x);
              var unusedA = d.thenAccept(x -> {});
              var unusedB = d.thenAccept(x -> {});
              var unusedC = f.thenAccept(x -> {});
            });
    for (Consumer<CompletableFuture<Long>> hang : waysToHang) {
      for (Consumer<CompletableFuture<?>> way : Unanswered.waysToGiveUp()) {
        CompletableFuture<Long> read = counter.getAsync();
        hang.accept(read);
        way.accept(read);
        assertNothingIsUnderWay();
      }
    }
  }

  private static void waiter(CompletableFuture<?> future) {
    Thread joins =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  try {
                    future.join();
                  } catch (RuntimeException e) {
                    // It was given up.
                  }
                });
    while (joins.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
  }

  @Test
  void derivedFuture_thatIsGivenUp_leavesTheCallToAThreadThatWaitsForIt() {
    CompletableFuture<Long> read = client.session().keyspace("shop").counter("k").getAsync();
    CompletableFuture<Long> derived = read.thenApply(x -> x);
    waiter(read);
    derived.cancel(true);
    assertThat(read).isNotDone();
    assertThat(client.status().getFirst().inFlight()).isOne();
    read.cancel(true);
    assertNothingIsUnderWay();
  }

  @Test
  void callThatSeveralCompositionsWaitFor_goesOnUntilTheLastIsGivenUp() {
    CounterHandle counter = client.session().keyspace("shop").counter("k");
    Function<CompletableFuture<Long>, CompletableFuture<Long>> failedLater =
        shared ->
            CallFuture.<Long>of(
                    CompletableFuture.failedFuture(new IllegalStateException()), Calls::error)
                .exceptionallyComposeAsync(e -> shared, Runnable::run);
    Function<CompletableFuture<Long>, CompletableFuture<Long>> composed =
        shared -> CallFuture.completed(1L).thenCompose(x -> shared);
    for (var way : List.of(composed, failedLater)) {
      CompletableFuture<Long> shared = counter.getAsync();
      CompletableFuture<Long> one = way.apply(shared);
      CompletableFuture<Long> other = way.apply(shared);
      one.cancel(true);
      one.thenApply(x -> x).cancel(true);
      assertThat(shared).isNotDone();
      assertThat(other).isNotDone();
      assertThat(client.status().getFirst().inFlight()).isOne();
      other.cancel(true);
      assertNothingIsUnderWay();
    }
  }

  /** What hangs on a composition and leaves late does not count for those that share its call. */
  @Test
  void composition_thatWasGivenUp_leavesTheCallOnce() {
    CompletableFuture<Long> shared = client.session().keyspace("shop").counter("k").getAsync();
    CompletableFuture<Long> one = CallFuture.completed(1L).thenCompose(x -> shared);
    CompletableFuture<Long> other = CallFuture.completed(1L).thenCompose(x -> shared);
    CompletableFuture<Long> late = one.handleAsync((x, e) -> x, task -> {}); // never runs it
    one.cancel(true);
    late.cancel(true);
    assertThat(other).isNotDone();
    assertThat(client.status().getFirst().inFlight()).isOne();
  }

  @Test
  void oneOfSeveralThatWait_doesNotEndTheOthers() {
    CompletableFuture<Long> read = client.session().keyspace("shop").counter("k").getAsync();
    CompletableFuture<Long> one = read.thenApply(x -> x);
    CompletableFuture<Long> other = read.thenApply(x -> x);
    one.cancel(true);
    assertThat(read).isNotDone();
    assertThat(other).isNotDone();
    assertThat(client.status().getFirst().inFlight()).isOne();
  }

  @Test
  void watcherThatIsClosed_leavesNothingUnderWay() {
    Watch.Watching watching =
        client.session().keyspace("shop").changes().on(Runnable::run).listen(told -> {});
    assertThat(client.status().getFirst().inFlight()).isOne();
    watching.close();
    assertNothingIsUnderWay();
  }
}
