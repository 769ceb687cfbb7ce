package io.osier.core.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class LogIntervalTest {
  @Test
  void tryPass_onceInAnInterval() {
    LogInterval interval = new LogInterval(Duration.ofNanos(1_000));
    long now = System.nanoTime();
    assertThat(interval.tryPass(now)).as("the first").isTrue();
    assertThat(interval.tryPass(now + 999)).as("too early").isFalse();
    assertThat(interval.tryPass(now + 1_000)).as("an interval later").isTrue();
    assertThat(interval.tryPass(now + 1_999)).as("too early after the second").isFalse();
  }
}
