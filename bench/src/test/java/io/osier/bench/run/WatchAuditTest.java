package io.osier.bench.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.testing.Patience;
import io.osier.testing.Refused;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(Patience.SECONDS)
final class WatchAuditTest {
  private final SteppedTime time = new SteppedTime();
  private final WatchAudit latest = new WatchAudit(10, false, time);
  private final WatchAudit each = new WatchAudit(10, true, time);

  private void sent(WatchAudit told, int key) {
    time.pass(1);
    told.sent("assign", key, 0);
    time.pass(1);
  }

  private void updated(WatchAudit told, int key) {
    sent(told, key);
    told.answered("assign", key, 0, true);
  }

  private static void assertMissed(WatchAudit told, String keys) {
    assertThatThrownBy(() -> told.await(1))
        .is(Refused.with(ErrorCode.INTERNAL))
        .hasMessageContaining(keys);
  }

  @Test
  void latest_oneChangeAfterTheLastUpdate_isEnough() {
    updated(latest, 3);
    updated(latest, 3);
    latest.told(3);
    latest.await(1);
    assertThat(latest.changes()).isEqualTo(1);
  }

  @Test
  void latest_notToldOfTheLastUpdate_isFound_afterAMinute() {
    updated(latest, 2);
    latest.told(2);
    updated(latest, 3);
    latest.told(3);
    updated(latest, 3);
    assertMissed(latest, "1 watched keys were updated and not told of, among them [3]");
    assertThat(time.nanos()).isGreaterThan(60_000_000_000L);
  }

  @Test
  void each_oneChangeForTwoUpdates_isFound() {
    updated(each, 3);
    updated(each, 3);
    each.told(3);
    assertMissed(each, "[3]");
    each.told(3);
    each.await(1);
  }

  @Test
  void keysThatAreNotWatched_needNotBeTold_theOthersMust() {
    updated(latest, 4);
    updated(latest, 5);
    latest.told(5);
    assertMissed(latest, "[4]");
    latest.await(5); // 0 and 5
  }

  @Test
  void aKeyWithAFailedCall_mustBeToldOnceAtLeast() {
    updated(latest, 3);
    sent(latest, 3);
    latest.answered("assign", 3, 0, false);
    assertMissed(latest, "[3]");
    latest.told(3);
    latest.await(1);
  }

  @Test
  void nothingUpdated_isNoSuccess() {
    latest.told(3);
    assertMissed(latest, "no watched key was updated");
  }

  @Test
  void lag_isUntilTheLastChange() {
    assertThat(latest.lagSince(7)).isZero();
    time.pass(10);
    latest.told(1);
    assertThat(latest.lagSince(7)).isEqualTo(3);
    assertThat(latest.lagSince(12)).isZero();
  }
}
