package io.osier.datacenter.store.rocks;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.datacenter.store.rocks.TombstoneRanges.Range;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class TombstoneRangesTest {
  private final TombstoneRanges gaps = new TombstoneRanges();

  private static Range range(int from, int to) {
    return Range.between(new byte[] {(byte) from}, new byte[] {(byte) to});
  }

  private void met(int from, int to) {
    gaps.met(range(from, to), 2_000);
  }

  private static String text(Optional<Range> range) {
    return range.map(r -> r.from()[0] + " to " + r.to()[0]).orElse("none");
  }

  @Test
  void tombstones_areMany_beyondAThousandInAWalk_andFourForEachThatIsThere() {
    assertThat(TombstoneRanges.isMany(999, 0)).isFalse();
    assertThat(TombstoneRanges.isMany(1_000, 10)).isTrue();
    assertThat(TombstoneRanges.isMany(4_000, 1_000)).isFalse();
    assertThat(TombstoneRanges.isMany(4_001, 1_000)).isTrue();
  }

  /** Pages that are walked one after the other, or again and again. */
  @Test
  void rangesThatMeet_areCompactedTogether_andOthersByThemselves() {
    met(5, 3); // from behind
    met(1, 3);
    met(20, 30);
    met(2, 4);
    assertThat(text(gaps.begin(0))).isEqualTo("20 to 30");
    gaps.end(0);
    assertThat(text(gaps.begin(0))).isEqualTo("1 to 5");
    gaps.end(0);
    assertThat(text(gaps.begin(0))).isEqualTo("none");
    assertThat(gaps.skipped()).isEqualTo(8_000);
    assertThat(gaps.compacted()).isEqualTo(2);
  }

  @Test
  void oneIsCompactedAtATime_forATenthOfTheTimeAtMost() {
    met(1, 2);
    met(5, 6);
    assertThat(gaps.isDue(100)).isTrue();
    assertThat(text(gaps.begin(100))).isEqualTo("1 to 2");
    met(1, 2); // by one that began before
    assertThat(text(gaps.begin(150))).as("while one is under way").isEqualTo("none");
    gaps.end(200);
    assertThat(gaps.isDue(1_099)).isFalse();
    assertThat(text(gaps.begin(1_099))).isEqualTo("none");
    assertThat(text(gaps.begin(1_100))).isEqualTo("5 to 6");
    gaps.end(1_100);
    assertThat(text(gaps.begin(1_100))).as("was seen to").isEqualTo("none");
  }

  @Test
  void whatIsWaiting_hasABudget() {
    for (int i = 0; i < 200; i++) {
      byte[] from = new byte[8_000];
      from[0] = (byte) i;
      byte[] to = from.clone();
      to[7_999] = 1;
      gaps.met(Range.between(from, to), 2_000);
    }
    int begun = 0;
    while (gaps.begin(0).isPresent()) {
      gaps.end(0);
      begun++;
    }
    assertThat(begun).isBetween(60, TombstoneRanges.BYTES_MAX / 16_000);
  }
}
