package io.osier.propagation.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Durations counted in ranges. */
class DelayHistogramTest {
  /** Returns how many durations were not above an end of a range. */
  private static long upTo(DelayHistogram delays, long micros) {
    return IntStream.range(0, delays.ranges())
        .filter(i -> delays.boundMicros(i) <= micros)
        .mapToLong(delays::count)
        .sum();
  }

  @Test
  void ranges_endWithTheirBounds_andOneIsTheSla() {
    DelayHistogram delays = DelayHistogram.around(200);
    delays.record(200_000); // just in time
    delays.record(200_001); // late
    delays.record(-5);
    assertThat(upTo(delays, 200_000)).as("in time").isEqualTo(2);
    assertThat(delays.total()).isEqualTo(3);
    assertThat(delays.sumMicros()).isEqualTo(400_001);
    assertThat(delays.count(0)).as("below 0 counts as 0").isEqualTo(1);
  }

  @Test
  void whatIsAboveAllBounds_hasARangeOfItsOwn() {
    DelayHistogram delays = DelayHistogram.of(10, 20);
    delays.record(21);
    assertThat(delays.count(delays.ranges())).isEqualTo(1);
    assertThat(upTo(delays, Long.MAX_VALUE)).isZero();
  }

  @Test
  void copies_areOnTheirOwn_andAddUp() {
    DelayHistogram delays = DelayHistogram.usual();
    delays.record(700);
    DelayHistogram copy = delays.copy();
    delays.record(7_000_000);
    assertThat(copy.total()).isEqualTo(1);
    assertThat(copy.plus(delays).total()).isEqualTo(3);
    assertThat(copy.plus(delays).sumMicros()).isEqualTo(7_001_400);
    assertThatThrownBy(() -> copy.plus(DelayHistogram.around(100)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
