package io.osier.propagation.net.link;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A buffer with a bound of 100, in which frames are large from 50 on. */
final class LinkBufferTest {
  private final LinkBuffer buffer = new LinkBuffer(100, 50);

  @Test
  void smallFrames_areTakenUpToTheBound_andAgainWhenSomeHaveLeft() {
    for (int i = 0; i < 6; i++) {
      assertThat(buffer.add(20)).isTrue();
    }
    assertThat(buffer.add(20)).isFalse();
    assertThat(buffer.bytes()).isEqualTo(120);
    buffer.left(20);
    assertThat(buffer.add(20)).isTrue();
  }

  @Test
  void largeFrames_areKnown_andInNobodysWay() {
    assertThat(buffer.add(1_000)).isTrue();
    assertThat(buffer.add(1_000)).isTrue();
    assertThat(buffer.add(20)).isTrue();
    assertThat(buffer.bytes()).isEqualTo(2_020);
    buffer.left(1_000);
    buffer.left(1_000);
    buffer.left(20);
    assertThat(buffer.bytes()).isZero();
    for (int i = 0; i < 6; i++) {
      assertThat(buffer.add(20)).isTrue();
    }
    assertThat(buffer.add(20)).as("large ones that left make no room for small ones").isFalse();
  }
}
