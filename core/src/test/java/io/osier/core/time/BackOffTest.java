package io.osier.core.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

final class BackOffTest {
  /** Draws the least number of a range, or the largest. */
  private record Extreme(boolean most) implements RandomGenerator {
    @Override
    public long nextLong() {
      throw new AssertionError("only ranges are asked for");
    }

    @Override
    public long nextLong(long origin, long bound) {
      return most ? bound - 1 : origin;
    }
  }

  private static final RandomGenerator MOST = new Extreme(true);
  private static final RandomGenerator LEAST = new Extreme(false);

  @Test
  void pause_doublesWithEachFailure_upToTheLongest() {
    BackOff backOff = new BackOff(50, 300);
    long[] pauses = new long[5];
    for (int i = 0; i < pauses.length; i++) {
      pauses[i] = backOff.nextMillis(MOST);
    }
    assertThat(pauses).containsExactly(50, 100, 200, 300, 300);
  }

  @Test
  void pause_isAtLeastHalfOfItsTime() {
    BackOff backOff = new BackOff(50, 300);
    assertThat(backOff.nextMillis(LEAST)).isEqualTo(25);
    assertThat(backOff.nextMillis(LEAST)).isEqualTo(50);
  }

  @Test
  void success_beginsAnew_andLittleHopeWaitsLongest() {
    BackOff backOff = new BackOff(50, 300);
    backOff.slowDown();
    assertThat(backOff.nextMillis(MOST)).isEqualTo(300);
    backOff.reset();
    assertThat(backOff.nextMillis(MOST)).isEqualTo(50);
  }

  @Test
  void timesOutOfRange_areRefused() {
    assertThatThrownBy(() -> new BackOff(1, 10)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new BackOff(10, 9)).isInstanceOf(IllegalArgumentException.class);
  }
}
