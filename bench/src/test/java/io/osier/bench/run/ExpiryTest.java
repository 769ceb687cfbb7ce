package io.osier.bench.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.systems.Calls;
import io.osier.core.ErrorCode;
import io.osier.testing.Patience;
import io.osier.testing.Refused;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(Patience.SECONDS)
final class ExpiryTest {
  private static final int OBJECTS = 5;

  private final SteppedTime time = new SteppedTime();

  /** Shows objects until their deadline; removes one with each look at what it keeps. */
  private class Store implements Calls, Calls.Expiring {
    final Map<Integer, Long> deadlines = new TreeMap<>();

    /** It takes objects away so much later than it should, sooner if below 0. */
    long late;

    boolean removes = true;
    int removed;
    int forgotten;

    @Override
    public Expiring expiring() {
      return this;
    }

    @Override
    public CompletionStage<?> put(int number) {
      time.pass(1_000_000);
      deadlines.put(number, Long.MAX_VALUE);
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletionStage<?> expireAt(int number, long millis) {
      time.pass(1_000_000);
      deadlines.put(number, millis);
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public long visible() {
      return deadlines.values().stream().filter(at -> at > time.millis() - late).count();
    }

    @Override
    public long kept() {
      if (removes && removed < OBJECTS) {
        removed++;
      } else if (removes && forgotten < OBJECTS) {
        forgotten++;
      }
      return 7L + (deadlines.isEmpty() ? 0 : OBJECTS - forgotten);
    }

    @Override
    public long removed() {
      return (long) removed - forgotten;
    }

    @Override
    public Call call(String operation) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
  }

  private final Store store = new Store();
  private final Expiry expiry = new Expiry(store, time);

  private void begin() {
    expiry.begin(OBJECTS, 3);
    store.removed = 0;
  }

  private static void assertFails(ThrowingCallable part, ErrorCode code, String words) {
    assertThatThrownBy(part).is(Refused.with(code)).hasMessageContaining(words);
  }

  @Test
  void begin_returnsSoManySecondsBeforeTheFirstDeadline() {
    begin();
    long first = Collections.min(store.deadlines.values());
    assertThat(first - time.millis()).isEqualTo(3_000);
    assertThat(Collections.max(store.deadlines.values()) - first).isEqualTo(800);
  }

  @Test
  void await_endsWhenAllAreRemoved_andThenWhenAllAreForgotten() {
    begin();
    time.pass(4_200_000_000L);
    expiry.await(false);
    assertThat(store.removed).isEqualTo(OBJECTS);
    assertThat(store.forgotten).isZero();
    expiry.await(true);
    assertThat(store.forgotten).isEqualTo(OBJECTS);
  }

  @Test
  void goneBeforeItsDeadline_fails() {
    store.late = -60_000;
    assertFails(this::begin, ErrorCode.INTERNAL, "0 are shown before the first deadline");
  }

  @Test
  void shownAfterItsDeadline_fails() {
    begin();
    store.late = 2_000;
    time.pass(4_200_000_000L);
    assertFails(() -> expiry.await(false), ErrorCode.INTERNAL, "objects are shown");
  }

  @Test
  void shownAMomentAfterItsDeadline_isTheStoresClock() {
    begin();
    time.pass(3_800_000_000L);
    store.late = 90;
    expiry.await(false);
  }

  @Test
  void neverRemoved_fails() {
    begin();
    store.removes = false;
    time.pass(4_200_000_000L);
    assertFails(() -> expiry.await(false), ErrorCode.TIMEOUT, "still there");
  }

  @Test
  void deadlinesThatTakeTooLongToGive_areRefused() {
    assertFails(
        () ->
            new Expiry(
                    new Store() {
                      @Override
                      public CompletionStage<?> expireAt(int number, long millis) {
                        time.pass(1_000_000_000);
                        return super.expireAt(number, millis);
                      }
                    },
                    time)
                .begin(OBJECTS, 0),
        ErrorCode.TIMEOUT,
        "longer than there was time");
  }
}
