package io.osier.bench.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.OsierException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

/** Stores that let objects expire as they should, and that do not. */
final class ExpiryRoundTest {
  private static final ExpiryRound.Settings SETTINGS =
      new ExpiryRound.Settings(20, 5, 1_000, 0.05, 0.2);

  /** A store that hides and removes at once. */
  private static class Store implements ExpiringSide {
    /** Deadlines, in milliseconds since 1970, by key. */
    final Map<String, Long> objects = new ConcurrentHashMap<>();

    boolean isOver(long deadline) {
      return deadline <= System.currentTimeMillis();
    }

    boolean isHidden(long deadline) {
      return isOver(deadline);
    }

    @Override
    public String name() {
      return "store";
    }

    @Override
    public CompletionStage<?> put(String key) {
      objects.put(key, Long.MAX_VALUE);
      return CompletableFuture.completedStage(null);
    }

    @Override
    public CompletionStage<Boolean> expireAt(String key, long millis) {
      return CompletableFuture.completedStage(objects.replace(key, millis) != null);
    }

    @Override
    public CompletionStage<?> use(String key, boolean reads) {
      return reads ? CompletableFuture.completedStage(objects.get(key)) : put(key);
    }

    @Override
    public Held held() {
      return new Held(objects.values().stream().filter(d -> !isOver(d)).count(), 0);
    }

    @Override
    public CompletionStage<Boolean> shows(String key) {
      return CompletableFuture.completedStage(!isHidden(objects.getOrDefault(key, 0L)));
    }

    @Override
    public long visible(String prefix) {
      return objects.entrySet().stream()
          .filter(e -> e.getKey().startsWith(prefix) && !isHidden(e.getValue()))
          .count();
    }

    @Override
    public Duration cpu() {
      return Duration.ZERO;
    }
  }

  private static ExpiryRound.Outcome run(Store store) throws InterruptedException {
    return new ExpiryRound(store, SETTINGS, "e").run((seconds, left) -> {});
  }

  @Test
  void run_allRemoved_measuresTheOthersBeforeAndAfter() throws InterruptedException {
    Store store = new Store();
    ExpiryRound.Outcome outcome = run(store);
    assertThat(outcome.before().getTotalCount()).isPositive();
    assertThat(outcome.after().getTotalCount())
        .isEqualTo(
            outcome.during().getTotalCount()
                + outcome.removing().getTotalCount()
                + outcome.forgetting().getTotalCount())
        .isPositive();
    assertThat(outcome.removedSeconds()).isPositive();
    assertThat(outcome.goneSeconds()).isGreaterThanOrEqualTo(outcome.removedSeconds());
    assertThat(outcome.failed()).isZero();
    assertThat(store.held().all()).isEqualTo(5);
  }

  @Test
  void run_objectsStay_isAFailure() {
    Store keeps =
        new Store() {
          @Override
          public Held held() {
            return new Held(objects.size(), 3);
          }
        };
    assertThatThrownBy(() -> run(keeps))
        .isInstanceOf(OsierException.class)
        .hasMessageContaining("of 20 expired objects 20 are still there")
        .hasMessageContaining("3 are removed and not forgotten");
  }

  @Test
  void run_expiredAreShown_isAFailure() {
    Store shows =
        new Store() {
          @Override
          boolean isHidden(long deadline) {
            return false;
          }
        };
    assertThatThrownBy(() -> run(shows))
        .isInstanceOf(OsierException.class)
        .hasMessageContaining("20 of 20 objects were shown after they had expired");
  }

  @Test
  void run_objectsGoneTooEarly_isAFailure() {
    Store forgets =
        new Store() {
          @Override
          public CompletionStage<Boolean> expireAt(String key, long millis) {
            return CompletableFuture.completedStage(false);
          }
        };
    assertThatThrownBy(() -> run(forgets))
        .isInstanceOf(OsierException.class)
        .hasMessageContaining("20 objects were gone before they had a deadline");
  }
}
