package io.osier.bench.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What was told of what was written. */
final class TallyTest {
  private static final List<Integer> ALL = List.of(0, 1, 2);

  private final Tally tally = new Tally(3);

  private void write(int key, long nanos) {
    tally.sent(key, nanos);
    tally.acknowledged(key);
  }

  @Test
  void missed_nothingWritten_nothingIs() {
    assertThat(tally.missed(Tally.Demand.EACH_UPDATE, ALL)).isEmpty();
  }

  @Test
  void missed_neverTold_isNamed() {
    write(0, 10);
    write(2, 11);
    tally.told(0, 12);
    for (Tally.Demand demand : Tally.Demand.values()) {
      assertThat(tally.missed(demand, ALL)).containsExactly(2);
    }
  }

  @Test
  void missed_toldBeforeTheLastUpdateWasSent_isNamed() {
    write(1, 10);
    tally.told(1, 11);
    write(1, 12);
    assertThat(tally.missed(Tally.Demand.LATEST, ALL)).containsExactly(1);
    tally.told(1, 13);
    assertThat(tally.missed(Tally.Demand.LATEST, ALL)).isEmpty();
  }

  @Test
  void missed_twoUpdatesAndOneChange_isNamedIfEachMustBeTold() {
    write(1, 10);
    write(1, 11);
    tally.told(1, 12);
    assertThat(tally.missed(Tally.Demand.LATEST, ALL)).isEmpty();
    assertThat(tally.missed(Tally.Demand.EACH_UPDATE, ALL)).containsExactly(1);
  }

  @Test
  void missed_keyThatIsNotWatched_isNotNamed() {
    write(0, 10);
    assertThat(tally.missed(Tally.Demand.LATEST, List.of(1, 2))).isEmpty();
  }

  @Test
  void missed_updateThatWasNotAcknowledged_needNotBeTold() {
    tally.sent(0, 10);
    assertThat(tally.missed(Tally.Demand.EACH_UPDATE, ALL)).isEmpty();
  }

  @Test
  void counts_areOfUpdatesAndChanges() {
    write(0, 10);
    write(0, 11);
    tally.told(0, 15);
    tally.told(1, 14);
    tally.told(1, 16);
    assertThat(tally.updates()).isEqualTo(2);
    assertThat(tally.changes()).isEqualTo(3);
    assertThat(tally.lastToldNanos()).isEqualTo(16);
  }
}
