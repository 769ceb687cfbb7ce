package io.osier.propagation.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.propagation.host.LateCounts.Delay;
import org.junit.jupiter.api.Test;

final class LateCountsTest {
  private static final long BOUND = 1_000;

  private static LateCounts late(long age, long way, long waited, long shortest) {
    return LateCounts.NONE.with(new Delay(age, way, waited, shortest), BOUND);
  }

  @Test
  void reason_isWhatWithoutItWouldHaveBeenInTime() {
    assertThat(late(990, 40, 0, 40)).as("left too late").isEqualTo(new LateCounts(1, 0, 0, 0));
    assertThat(late(900, 140, 0, 40)).as("took too long").isEqualTo(new LateCounts(0, 1, 0, 0));
    assertThat(late(900, 140, 100, 40)).as("waited").isEqualTo(new LateCounts(0, 0, 1, 0));
    assertThat(late(990, 140, 100, 40)).as("in any case").isEqualTo(new LateCounts(1, 0, 0, 0));
  }

  @Test
  void violations_leaveOutagesOut() {
    assertThat(new LateCounts(1, 2, 4, 8).violations()).isEqualTo(7);
    assertThat(LateCounts.NONE.withOutage()).isEqualTo(new LateCounts(0, 0, 0, 1));
  }
}
