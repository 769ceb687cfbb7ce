package io.osier.propagation.host;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class AckTimeEstimateTest {
  private static final long SECOND = 1_000_000_000;

  @Test
  void rest_halvesForEachSecondDownToTheFloor() {
    AckTimeEstimate time = new AckTimeEstimate();
    time.sample(4 * SECOND, 100 * SECOND);
    long first = time.nanos();
    time.rest(100 * SECOND + SECOND / 2, SECOND);
    assertThat(time.nanos()).as("too early").isEqualTo(first);
    time.rest(101 * SECOND, SECOND);
    assertThat(time.nanos()).isEqualTo(first / 2);
    time.rest(103 * SECOND, SECOND);
    assertThat(time.nanos()).as("two more").isEqualTo(first / 8);
    time.rest(200 * SECOND, SECOND);
    assertThat(time.nanos()).isBetween(SECOND - 10, SECOND + 10);
  }

  @Test
  void rest_keepsWhatIsBelowTheFloor() {
    AckTimeEstimate time = new AckTimeEstimate();
    time.rest(SECOND, SECOND);
    assertThat(time.nanos()).isZero();
    time.sample(SECOND / 10, SECOND);
    long measured = time.nanos();
    time.rest(100 * SECOND, SECOND);
    assertThat(time.nanos()).isEqualTo(measured);
  }
}
