package io.osier.datacenter.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OutcomeUnknownException;
import io.osier.testing.Patience;
import io.osier.testing.Refused;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads that are interrupted and use a datacenter in their own process, whose work they do. */
@Timeout(Patience.SECONDS)
final class InterruptedTest {
  private static final Duration LONG = Patience.LIMIT;
  private static final Duration FOREVER = ChronoUnit.FOREVER.getDuration();

  @TempDir private Path dir;

  @AfterEach
  void clear() {
    boolean unused = Thread.interrupted();
  }

  private EmbeddedDatacenter start(boolean stored) {
    return EmbeddedDatacenter.start(
        """
        osier {
          dc = eu, listen { client-port = 0, peer-port = 0 }, store.dir = "%s"
          keyspaces { shop {}, bank { consistency = causal } }
          shutdown-timeout = 1h
        }
        """
            .formatted(stored ? dir.toString() : ""));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void interruptedThread_leavesTheDatacenterAsItWas(boolean stored) {
    EmbeddedDatacenter eu = start(stored);
    eu.awaitReady(FOREVER);
    Keyspace shop = eu.session().keyspace("shop");
    shop.boundedCounter("b").create(0, Long.MAX_VALUE);
    shop.register("r").assign("before");
    Thread.currentThread().interrupt();
    // Nobody has the rights that it would wait for.
    assertThatThrownBy(() -> shop.boundedCounter("b").decrement(1, Duration.ofMinutes(1)))
        .isInstanceOf(OutcomeUnknownException.class)
        .is(Refused.with(ErrorCode.CANCELLED));
    for (int i = 0; i < 100; i++) {
      try {
        shop.counter("c").incrementAndGet(1); // is done at once, or in doubt
        shop.set("s").add("e" + i);
      } catch (OsierException e) {
        assertThat(e.code()).isEqualTo(ErrorCode.CANCELLED);
      }
    }
    assertThat(Thread.interrupted()).isTrue();
    shop.register("r").assign("after");
    assertThat(shop.register("r").get()).isPresent();
    Thread.currentThread().interrupt();
    eu.close();
    assertThat(Thread.interrupted()).as("is kept").isTrue();
    if (stored) {
      try (EmbeddedDatacenter again = start(true)) {
        again.awaitReady(LONG);
        assertThat(again.session().keyspace("shop").register("r").get().orElseThrow())
            .hasToString("after");
      }
    }
  }

  @Test
  void awaitReady_endsWithAnInterrupt_andTakesEveryLimit() {
    try (EmbeddedDatacenter eu =
        EmbeddedDatacenter.start(
            """
            osier {
              dc = eu, listen { client-port = 0, peer-port = 0 }, store.dir = ""
              keyspaces { shop {} }, shutdown-timeout = 0s
            }
            """)) {
      for (Duration limit : List.of(FOREVER, LONG)) {
        eu.awaitReady(limit);
      }
      Thread.currentThread().interrupt();
      eu.awaitReady(FOREVER); // is ready
      assertThat(Thread.interrupted()).isTrue();
    }
  }
}
