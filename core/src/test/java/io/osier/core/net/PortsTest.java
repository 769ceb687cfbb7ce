package io.osier.core.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PortsTest {
  /** Two listeners of a datacenter once drew the same port, so that it did not start. */
  @Test
  void portIsDrawnOnce() {
    // By chance alone about 56 of so many would be drawn twice.
    assertThat(IntStream.range(0, 1_500).mapToObj(i -> Ports.free()).toList())
        .doesNotHaveDuplicates();
  }
}
