package io.osier.testing;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/**
 * How long a test waits for what comes at once on a quiet machine: so long that a busy one is never
 * the reason when it does not come.
 */
public final class Patience {
  public static final Duration LIMIT = Duration.ofMinutes(2);

  /** The same, in seconds. */
  public static final long SECONDS = LIMIT.toSeconds();

  private Patience() {}

  /** Waits for a condition for so long. */
  public static ConditionFactory await() {
    return Awaitility.await().atMost(LIMIT);
  }
}
