package io.osier.testing;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * How long tests wait for what must come: so long that only what hangs takes longer, on a machine
 * with twenty times as much to do as it can, too. JUnit finds this by itself, so that it holds for
 * all that wait by Awaitility and name no limit, and looks often where something comes soon.
 */
public final class Patience implements BeforeAllCallback {
  /** The limit in seconds, for a latch, a queue, a future or a test. */
  public static final long SECONDS = 300;

  public static final Duration LIMIT = Duration.ofSeconds(SECONDS);

  /** The same, for a socket. */
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
