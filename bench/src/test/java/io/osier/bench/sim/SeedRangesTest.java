package io.osier.bench.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class SeedRangesTest {
  @Test
  void numbersAndRanges_areTaken_inTheirOrder() {
    SeedRanges seeds = SeedRanges.parse("7,1..3,1000..1001");

    assertThat(seeds.iterator()).toIterable().containsExactly(7L, 1L, 2L, 3L, 1000L, 1001L);
    assertThat(seeds.count()).isEqualTo(6);
  }

  @Test
  void manySeeds_areNotMadeAtOnce() {
    SeedRanges seeds = SeedRanges.parse("1..999999999999");

    assertThat(seeds.count()).isEqualTo(999_999_999_999L);
    var numbers = seeds.iterator();
    assertThat(numbers.next()).isEqualTo(1);
    assertThat(numbers.next()).isEqualTo(2);
  }

  @Test
  void whatIsNoSeed_isRefused() {
    for (String bad : new String[] {"", "a", "1..", "1,,2", "1..2..3", "-1"}) {
      assertThatThrownBy(() -> SeedRanges.parse(bad))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("must be a number or A..B");
    }
    assertThatThrownBy(() -> SeedRanges.parse("1,3..2"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("must not end before it begins: '3..2'");
  }
}
