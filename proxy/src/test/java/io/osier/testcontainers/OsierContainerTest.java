package io.osier.testcontainers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class OsierContainerTest {
  @Test
  void portIsDrawnOnce() {
    // By chance alone about 56 of so many would be drawn twice.
    assertThat(IntStream.range(0, 1_500).mapToObj(i -> OsierContainer.freePort()).toList())
        .doesNotHaveDuplicates();
  }
}
