package io.osier.propagation;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frames;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A peer is heard, but nothing can be sent to it. */
final class OneWayCutTest {
  private static final ReplicaId HEARD = new ReplicaId("us", 1);
  private static final ReplicaId THIRD = new ReplicaId("ap", 1);
  private static final StreamSettings SETTINGS = StreamSettings.DEFAULT;
  private static final int STEP_MILLIS = 100;

  private final Solo solo =
      new Solo(
          Solo.SESSION,
          SETTINGS,
          RecoveredState.NOTHING,
          new TestSurroundings.Objects(),
          (to, frame) -> assertThat(frame instanceof Frame.Heal && !to.equals(THIRD)).isFalse(),
          HEARD.dc(),
          THIRD.dc());

  private List<Frame.Heal> heals() {
    return solo.sent(Frame.Heal.class);
  }

  /** Lets time pass in which both peers are heard; the third one has five updates of the other. */
  private void hears(long millis) {
    for (long until = solo.nowMillis + millis;
        solo.nowMillis < until;
        solo.nowMillis += STEP_MILLIS) {
      says(HEARD, VersionVector.EMPTY);
      says(THIRD, VersionVector.EMPTY.with(HEARD, 5));
      solo.tick();
    }
  }

  private void says(ReplicaId peer, VersionVector changes) {
    says(peer, changes, false);
  }

  private void says(ReplicaId peer, VersionVector changes, boolean wantsResume) {
    VersionVector through = VersionVector.EMPTY.with(HEARD, 5);
    solo.receive(peer, Frames.status(wantsResume, through, changes, solo.nowMillis));
  }

  private static long patienceMillis() {
    return (long) SETTINGS.healMillis() + SETTINGS.retryMillis();
  }

  @Test
  void reachable_shipsItself() {
    solo.up(HEARD);
    solo.up(THIRD);
    hears(3 * patienceMillis());
    assertThat(heals()).isEmpty();
  }

  /**
   * The peer's frames in flight are never acknowledged, so it soon ships nothing more, however
   * often it sends signs of life: simulator seed 75 with five datacenters.
   */
  @Test
  void heardOnly_isRepairedFromAThirdOne() {
    solo.up(HEARD);
    solo.up(THIRD);
    hears(2 * patienceMillis());
    solo.down(HEARD);
    hears(patienceMillis() - STEP_MILLIS);
    assertThat(heals()).isEmpty();
    hears(patienceMillis());
    assertThat(heals()).isNotEmpty().allMatch(heal -> heal.origin().equals(HEARD));
  }

  /** The peer's answers went over a connection that was cut, while the connection to it stayed. */
  @Test
  void whoIsAskedAndCouldNotAnswer_isAskedAgainAtOnce() {
    solo.up(THIRD);
    solo.receive(
        THIRD,
        Frames.updates(
            Frame.Kind.CATCH_UP,
            solo.epoch(),
            1,
            0,
            Optional.of(new Frame.Cursor(1, 0, 0, 0, Optional.empty())),
            solo.nowMillis,
            List.of()));
    while (heals().isEmpty()) {
      hears(STEP_MILLIS);
    }
    for (int i = 0; i < 2; i++) {
      says(THIRD, VersionVector.EMPTY.with(HEARD, 5), true);
      solo.tick(1);
    }
    assertThat(heals()).as("once more").hasSize(2);
  }

  @Test
  void neverReached_isRepairedFromAThirdOne() {
    solo.up(THIRD);
    hears(2 * patienceMillis());
    assertThat(heals()).isNotEmpty().allMatch(heal -> heal.origin().equals(HEARD));
  }
}
