package io.osier.bench.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.systems.Calls;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class ExpiryTest {
  /** Removes an object with each look at what it keeps, and forgets another. */
  private static final class Store implements Calls, Calls.Expiring {
    final AtomicInteger given = new AtomicInteger();
    int kept;
    int removed;
    long visible;

    @Override
    public Expiring expiring() {
      return this;
    }

    @Override
    public CompletionStage<?> put(int number) {
      kept++;
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletionStage<?> expireAt(int number, long millis) {
      given.incrementAndGet();
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public long visible() {
      return visible;
    }

    @Override
    public long kept() {
      if (removed < kept) {
        removed++;
      } else if (kept > 0) {
        kept--;
        removed--;
      }
      return kept;
    }

    @Override
    public long removed() {
      return removed;
    }

    @Override
    public Call call(String operation) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void fill(String operation, int keys) {}

    @Override
    public void close() {}
  }

  @Test
  void await_endsWhenAllAreRemoved_andThenWhenAllAreForgotten() throws InterruptedException {
    Store store = new Store();
    try (Expiry expiry = new Expiry(store)) {
      expiry.begin(5, 0);
      assertThat(store.given.get()).isEqualTo(5);
      expiry.await(false);
      assertThat(store.removed).isEqualTo(store.kept).isPositive();
      expiry.await(true);
      assertThat(store.kept).isZero();
    }
  }

  @Test
  void shownAfterItsDeadline_fails() throws InterruptedException {
    Store store = new Store();
    try (Expiry expiry = new Expiry(store)) {
      expiry.begin(5, 0);
      store.visible = 1;
      assertThatThrownBy(() -> expiry.await(false))
          .isInstanceOfSatisfying(
              OsierException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INTERNAL));
    }
  }
}
