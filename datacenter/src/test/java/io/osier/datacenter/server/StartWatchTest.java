package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class StartWatchTest {
  private static final long SECOND = 1_000_000_000L;

  @Test
  void phases_areNamedInTheirOrderWithWhatEachTook() {
    StartWatch watch = new StartWatch(5 * SECOND).before("Java", Duration.ofMillis(400));
    watch.done("store", 7 * SECOND);
    watch.done("recovery", 7 * SECOND + SECOND / 4);
    watch.done("store", 8 * SECOND);
    assertThat(watch).hasToString("3.40 s (Java 0.40, store 2.75, recovery 0.25)");
    assertThat(watch.total()).isEqualTo(Duration.ofMillis(3_400));
  }
}
