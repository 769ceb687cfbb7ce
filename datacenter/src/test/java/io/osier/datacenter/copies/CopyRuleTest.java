package io.osier.datacenter.copies;

import static org.assertj.core.api.Assertions.assertThat;

import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

final class CopyRuleTest {
  private final CopyRule rule = new CopyRule(100);

  /** As after many equal periods. */
  private static Demand steady(long reads, long bytesPerRead, long shipped) {
    Demand demand = new Demand();
    for (int i = 0; i < 40; i++) {
      demand.read(reads, reads * bytesPerRead);
      demand.shipped(shipped);
      demand.periodEnds();
    }
    return demand;
  }

  /** Read once in three periods. */
  private static Demand seldom() {
    Demand demand = new Demand();
    for (int i = 0; i < 120; i++) {
      demand.read(i % 3 == 0 ? 1 : 0, i % 3 == 0 ? 1 << 20 : 0);
      demand.periodEnds();
    }
    return demand;
  }

  /** Read in one period. */
  private static Demand once(int times) {
    Demand demand = new Demand();
    demand.read(times, 1_000_000);
    demand.periodEnds();
    return demand;
  }

  private boolean begins(Demand demand, double way) {
    return rule.begins(demand, way, 100);
  }

  @Test
  void readsWithTheirWay_areComparedWithWhatIsShipped() {
    assertThat(rule.saved(steady(10, 50, 0), 2)).isCloseTo(10 * (50 + 200), withinOne());
    assertThat(begins(steady(10, 50, 1_000), 2)).isTrue();
    assertThat(begins(steady(10, 50, 2_000), 2)).isFalse();
    assertThat(begins(steady(10, 50, 2_000), 20)).as("a far holder").isTrue();
    assertThat(begins(steady(100, 50, 2_000), 2)).as("many reads").isTrue();
    assertThat(begins(steady(10, 5_000, 2_000), 2)).as("large answers").isTrue();
  }

  @Test
  void objectThatIsReadNowAndThen_isNotFollowed_howeverFar() {
    assertThat(begins(seldom(), 1_000)).isFalse();
    assertThat(begins(once(2), 1_000)).isFalse();
    assertThat(begins(once(3), 1_000)).isTrue();
  }

  @Test
  void copyStays_whereNoneBegins() {
    Demand between = steady(10, 50, 2_000);
    assertThat(begins(between, 2)).isFalse();
    assertThat(rule.stays(between, 2)).isTrue();
    assertThat(rule.stays(steady(10, 50, 3_000), 2)).isFalse();
    Demand little = seldom();
    assertThat(begins(little, 2)).isFalse();
    assertThat(rule.stays(little, 2)).isTrue();
    for (int i = 0; i < 5; i++) {
      little.periodEnds();
    }
    assertThat(rule.stays(little, 2)).isFalse();
  }

  @Test
  void pauseAfterACopyThatWasNotWorthIt_doubles() {
    Demand demand = steady(100, 50, 0);
    long now = 100;
    long pauses = 0;
    for (int i = 0; i < 10; i++) {
      demand.wasNotWorthIt(now);
      assertThat(rule.begins(demand, 2, now)).isFalse();
      long from = now;
      while (!rule.begins(demand, 2, now)) {
        now++;
      }
      assertThat(now - from).isEqualTo(Math.min(1L << i, CopyRule.PAUSE_MAX));
      pauses++;
    }
    assertThat(pauses).isEqualTo(10);
  }

  private static Offset<Double> withinOne() {
    return Offset.offset(1.0);
  }
}
