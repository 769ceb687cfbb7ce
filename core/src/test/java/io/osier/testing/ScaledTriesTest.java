package io.osier.testing;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.lifecycle.AfterContainer;

final class ScaledTriesTest {
  private static final int TRIES = 100;
  private static int tried;

  @Example
  void scaled_isInProportion_andNeverNone() {
    assertThat(ScaledTries.scaled(2_000, 300)).isEqualTo(2_000);
    assertThat(ScaledTries.scaled(2_000, 60)).isEqualTo(400);
    assertThat(ScaledTries.scaled(2_000, 4_500)).isEqualTo(30_000);
    assertThat(ScaledTries.scaled(1, 60)).isOne();
    assertThat(ScaledTries.scaled(Integer.MAX_VALUE, 4_500)).isEqualTo(Integer.MAX_VALUE);
  }

  @Property(tries = TRIES)
  void number(@ForAll long number) {
    tried++;
  }

  @AfterContainer
  static void eachPropertyIsScaled() {
    assertThat(tried).isEqualTo(ScaledTries.scaled(TRIES));
  }
}
