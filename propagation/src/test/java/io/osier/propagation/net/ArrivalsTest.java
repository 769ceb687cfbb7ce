package io.osier.propagation.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import io.osier.core.ReplicaId;
import org.junit.jupiter.api.Test;

final class ArrivalsTest {
  private static final ReplicaId US = new ReplicaId("us", 200);

  private final Arrivals arrivals = new Arrivals();
  private final EmbeddedChannel first = new EmbeddedChannel();
  private final EmbeddedChannel second = new EmbeddedChannel();

  @Test
  void laterDial_replacesTheOneBefore_andOneThatHungDoesNot() {
    assertThat(arrivals.replace(US, 7, 2, first)).isTrue();
    assertThat(arrivals.replace(US, 7, 1, second)).isFalse();
    assertThat(first.isOpen()).isTrue();
    assertThat(arrivals.replace(US, 7, 3, second)).isTrue();
    assertThat(first.isOpen()).isFalse();
  }

  /** In the older version the greeting had no start number. */
  @Test
  void dialOfAnOlderVersionThatHung_doesNotReplaceALaterOne() {
    assertThat(arrivals.replace(US, 7, 2, first)).isTrue();
    assertThat(arrivals.replace(US, 0, 1, second)).isFalse();
    assertThat(first.isOpen()).isTrue();
    assertThat(arrivals.replace(US, 0, 3, second)).as("a later one").isTrue();
  }

  @Test
  void anotherStart_countsItsDialsAnew() {
    assertThat(arrivals.replace(US, 7, 9, first)).isTrue();
    assertThat(arrivals.replace(US, 8, 1, second)).isTrue();
    assertThat(first.isOpen()).isFalse();
  }

  @Test
  void processThatWasUpgraded_replacesItsFormerLife() {
    assertThat(arrivals.replace(US, 0, 9, first)).isTrue();
    assertThat(arrivals.replace(US, 8, 1, second)).isTrue();
  }
}
