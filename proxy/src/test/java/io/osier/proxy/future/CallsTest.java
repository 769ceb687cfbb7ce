package io.osier.proxy.future;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** How calls of several steps go on, and end. */
final class CallsTest {
  private final RuntimeException fault = new IllegalStateException("a fault of this test");

  private final List<Integer> begun = new ArrayList<>();

  private CompletableFuture<Integer> step(int from, int throwing, CompletableFuture<Integer> made) {
    begun.add(from);
    if (from == throwing) {
      throw fault;
    }
    return made;
  }

  private void assertFailed(CompletableFuture<Integer> future) {
    assertThatThrownBy(future::join).isInstanceOf(CompletionException.class).hasCause(fault);
  }

  @Test
  void stepThatThrows_failsTheFuture_andIsTheLast() {
    for (int throwing = 0; throwing < 3; throwing++) {
      begun.clear();
      int at = throwing;
      CompletableFuture<Integer> all =
          Calls.oneByOne(
              0, n -> n == 5, n -> step(n, at, CompletableFuture.completedFuture(n + 1)));
      assertFailed(all);
      assertThat(begun).hasSize(throwing + 1);
    }
  }

  @Test
  void stepThatThrows_behindOneThatTookItsTime_failsTheFuture_andIsTheLast() {
    CompletableFuture<Integer> first = new CompletableFuture<>();
    CompletableFuture<Integer> all = Calls.oneByOne(0, n -> n == 5, n -> step(n, 1, first));
    assertThat(all).isNotDone();
    first.complete(1);
    assertFailed(all);
    assertThat(begun).containsExactly(0, 1);
  }

  @Test
  void whetherToGoOn_thatThrows_failsTheFuture() {
    assertFailed(
        Calls.oneByOne(
            0,
            n -> {
              throw fault;
            },
            n -> step(n, 1, new CompletableFuture<>())));
    assertThat(begun).isEmpty();
  }
}
