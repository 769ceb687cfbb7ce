package io.osier.datacenter.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class CliCommandTest {
  /** A datacenter that stands still for a moment is not dead for who is ready to wait. */
  @Test
  void whoWaitsLongerForACommand_waitsLongerForASignOfLife() {
    assertThat(CliCommand.pause(1)).isEqualTo(Duration.ofMillis(500));
    assertThat(CliCommand.pause(10)).as("by default").isEqualTo(Duration.ofMillis(500));
    assertThat(CliCommand.pause(300)).isEqualTo(Duration.ofSeconds(15));
    assertThat(CliCommand.pause(Integer.MAX_VALUE)).isPositive();
  }
}
