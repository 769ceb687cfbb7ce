package io.osier.propagation.pull;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Checks when a request is repeated. */
final class RequestRetryTest {
  private static final long SECOND = 1_000_000_000;

  private final AtomicLong numbers = new AtomicLong();
  private final RequestRetry asking = new RequestRetry(numbers::incrementAndGet, SECOND);

  /** The rest of an answer may take any time after its first part: that is no measure. */
  @Test
  void whatComesLater_isWaitedFor_andIsNoMeasure() {
    long number = asking.ask(0);
    assertThat(asking.isDue(2 * SECOND)).isTrue();
    assertThat(asking.comes(number, SECOND / 2)).isTrue();
    assertThat(asking.isDue(500 * SECOND)).isFalse();
    assertThat(asking.answered(number, 600 * SECOND)).isTrue();

    number = asking.ask(600 * SECOND);
    assertThat(asking.isDue(601 * SECOND)).isTrue();
    assertThat(asking.comes(number + 1, 601 * SECOND)).as("another one").isFalse();
    assertThat(asking.comes(number, 601 * SECOND)).isTrue();
    asking.comesNot();
    assertThat(asking.isDue(602 * SECOND)).as("twice as long as the last").isTrue();
    long again = asking.askAgain(602 * SECOND);
    assertThat(asking.answered(again, 603 * SECOND)).isTrue();
    assertThat(asking.isOpen()).isFalse();
  }
}
