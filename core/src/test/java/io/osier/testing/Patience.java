package io.osier.testing;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * How long tests wait for an event that must come: so long that only a hang takes longer, even on a
 * machine with twenty times as much to do as it can. JUnit finds this class by itself, so the limit
 * holds for all tests that wait by Awaitility and name none; it polls often, for events that come
 * soon.
 */
public final class Patience implements BeforeAllCallback {
  /** The limit in seconds, for a latch, a queue, a future or a test. */
  public static final long SECONDS = 300;

  public static final Duration LIMIT = Duration.ofSeconds(SECONDS);

  /** The limit in milliseconds, for a socket. */
  public static final int MILLIS = (int) LIMIT.toMillis();

  private static final Duration SELDOM = Duration.ofMillis(50);

  @Override
  public void beforeAll(ExtensionContext context) {
    Awaitility.setDefaultTimeout(LIMIT);
    Awaitility.setDefaultPollDelay(Duration.ZERO);
    Awaitility.setDefaultPollInterval(
        (polls, last) -> {
          Duration twice = last.isZero() ? Duration.ofMillis(1) : last.multipliedBy(2);
          return twice.compareTo(SELDOM) < 0 ? twice : SELDOM;
        });
  }
}
