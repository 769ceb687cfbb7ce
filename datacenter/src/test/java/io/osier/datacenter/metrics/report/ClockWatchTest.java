package io.osier.datacenter.metrics.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Whose clock is ahead is named while it is, and does not flicker at the threshold. */
final class ClockWatchTest {
  private final Readiness readiness = new Readiness(Map.of(), Optional.empty());

  private void measured(long us, long ap) {
    readiness.clocks().look(Map.of("us", us, "ap", ap));
  }

  @Test
  void clockThatIsAhead_isNamed_untilItIsNot() {
    measured(ClockWatch.AHEAD_MILLIS_MAX, 0);
    assertThat(readiness.warnings()).isEmpty();
    measured(ClockWatch.AHEAD_MILLIS_MAX + 1, 0);
    assertThat(readiness.warnings())
        .singleElement()
        .asString()
        .startsWith("the clock of us is more than 500 ms ahead of the one here");
    assertThat(readiness.obstacles()).isEmpty();
    measured(ClockWatch.AHEAD_MILLIS_MAX / 2 + 1, 3_600_000);
    assertThat(readiness.warnings()).hasSize(2);
    measured(ClockWatch.AHEAD_MILLIS_MAX / 2, 3_600_000);
    assertThat(readiness.warnings()).singleElement().asString().contains("of ap is more");
    readiness.clocks().look(Map.of());
    assertThat(readiness.warnings()).as("it is no peer any more").isEmpty();
  }
}
