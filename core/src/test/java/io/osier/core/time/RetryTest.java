package io.osier.core.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

final class RetryTest {
  private final Retry retry = new Retry(100, 1_000, new Random(1));

  private long triesIn(long fromMillis, long millis) {
    long tries = 0;
    for (long now = fromMillis; now < fromMillis + millis; now++) {
      if (retry.isDue(now)) {
        boolean unused = retry.failed("no", now);
        tries++;
      }
    }
    return tries;
  }

  @Test
  void whatFails_isTriedMoreAndMoreSeldom_andAtOnceWhenItHasWorked() {
    assertThat(retry.isDue(0)).isTrue();
    assertThat(triesIn(0, 100_000)).isBetween(100L, 210L);
    assertThat(retry.failures()).isBetween(100L, 210L);
    assertThat(retry.worked()).isTrue();
    assertThat(retry.worked()).isFalse();
    assertThat(retry.isDue(100_000)).isTrue();
    assertThat(triesIn(100_000, 300)).as("after short pauses again").isBetween(2L, 5L);
  }

  @Test
  void sameWords_areNewsOnce() {
    assertThat(retry.failed("no", 1)).isTrue();
    assertThat(retry.failed("no", 2)).isFalse();
    assertThat(retry.failed("full", 3)).isTrue();
    assertThat(retry.failed("no", 4)).isTrue();
    assertThat(retry.worked()).isTrue();
    assertThat(retry.failed("no", 5)).isTrue();
  }

  @Test
  void clockThatWasSetBack_doesNotStopIt() {
    boolean unused = retry.failed("no", 1_000_000);
    assertThat(retry.isDue(1_000_001)).isFalse();
    assertThat(retry.isDue(5)).isTrue();
  }
}
