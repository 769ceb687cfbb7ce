package io.osier.propagation.receive;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class AckTimerTest {
  private final AckTimer acks = new AckTimer();

  @Test
  void oneAcknowledgement_isDueForAllThatCame_whenTheFirstIs() {
    assertThat(acks.takeDue(100)).as("nothing came").isFalse();
    assertThat(acks.dueNanos()).isEqualTo(Long.MAX_VALUE);
    acks.by(7);
    acks.by(5);
    acks.by(9);
    assertThat(acks.dueNanos()).isEqualTo(5);
    assertThat(acks.takeDue(4)).isFalse();
    assertThat(acks.takeDue(5)).isTrue();
    assertThat(acks.takeDue(10)).as("it was sent").isFalse();
    acks.by(20);
    assertThat(acks.dueNanos()).as("not when the last one was").isEqualTo(20);
  }
}
