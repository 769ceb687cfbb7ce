package io.osier.datacenter.shard.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.time.SlewedClock;
import org.junit.jupiter.api.Test;

final class TimeTest {
  /** When it was, what expires was said to live on for up to a millisecond longer than asked. */
  @Test
  void timeInUse_isNotBehindTheWallClock() {
    long[] nanos = {5};
    double began = 1_000.9;
    Time time =
        Time.of(
            "k-0",
            new SlewedClock(began, nanos[0]),
            () -> nanos[0],
            () -> began + (nanos[0] - 5) / 1e6);
    assertThat(time.now().millis()).isEqualTo(1_000);
    nanos[0] += 200_000; // it is 1,001.1
    assertThat(time.millis()).isEqualTo(1_001);
    assertThat(time.now().millis()).isEqualTo(1_001);
    nanos[0] += 800_000;
    assertThat(time.millis()).isEqualTo(1_001);
    nanos[0] += 200_000;
    assertThat(time.millis()).isEqualTo(1_002);
  }
}
