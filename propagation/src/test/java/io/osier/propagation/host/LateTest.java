package io.osier.propagation.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.propagation.host.Late.Delay;
import org.junit.jupiter.api.Test;

final class LateTest {
  private static final long BOUND = 1_000;

  private static Late late(long age, long way, long waited, long shortest) {
    return Late.NONE.with(new Delay(age, way, waited, shortest), BOUND);
  }

  @Test
  void reason_isWhatWithoutItWouldHaveBeenInTime() {
    assertThat(late(990, 40, 0, 40)).as("left too late").isEqualTo(new Late(1, 0, 0, 0));
    assertThat(late(900, 140, 0, 40)).as("took too long").isEqualTo(new Late(0, 1, 0, 0));
    assertThat(late(900, 140, 100, 40)).as("waited").isEqualTo(new Late(0, 0, 1, 0));
    assertThat(late(990, 140, 100, 40)).as("in any case").isEqualTo(new Late(1, 0, 0, 0));
  }

  @Test
  void violations_leaveOutagesOut() {
    assertThat(new Late(1, 2, 4, 8).violations()).isEqualTo(7);
    assertThat(Late.NONE.withOutage()).isEqualTo(new Late(0, 0, 0, 1));
  }
}
