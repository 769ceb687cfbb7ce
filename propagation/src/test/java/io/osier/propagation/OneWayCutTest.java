package io.osier.propagation;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.host.UpdateObserver;
import io.osier.propagation.wire.Frame;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A peer is heard, but nothing can be sent to it. */
final class OneWayCutTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final ReplicaId HEARD = new ReplicaId("us", 1);
  private static final ReplicaId THIRD = new ReplicaId("ap", 1);
  private static final StreamSettings SETTINGS = StreamSettings.DEFAULT;
  private static final int STEP_MILLIS = 100;

  private final List<Frame.Resume> resumes = new ArrayList<>();
  private final List<Frame.Heal> heals = new ArrayList<>();
  private long nowMillis = 1_000_000;

  private final Propagation propagation =
      new Propagation(
          SELF,
          List.of(HEARD.dc(), THIRD.dc()),
          KeyspacePolicy.session("k", Duration.ofSeconds(1)),
          SETTINGS,
          RecoveredState.NOTHING,
          new TestSurroundings.Objects(),
          (to, frame) -> {
            if (frame instanceof Frame.Heal heal) {
              assertThat(to).isEqualTo(THIRD);
              heals.add(heal);
            } else if (frame instanceof Frame.Resume resume && to.equals(THIRD)) {
              resumes.add(resume);
            }
          },
          UpdateObserver.NONE,
          nowMillis * 1_000_000);

  /** Time passes in which both peers are heard; the third one has five updates of the other. */
  private void hears(long millis) {
    for (long until = nowMillis + millis; nowMillis < until; nowMillis += STEP_MILLIS) {
      says(HEARD, VersionVector.EMPTY);
      says(THIRD, VersionVector.EMPTY.with(HEARD, 5));
      propagation.tick(nowMillis * 1_000_000, nowMillis);
    }
  }

  private void says(ReplicaId peer, VersionVector changes) {
    says(peer, changes, false);
  }

  private void says(ReplicaId peer, VersionVector changes, boolean wantsResume) {
    VersionVector through = VersionVector.EMPTY.with(HEARD, 5);
    receives(peer, new Frame.Status(wantsResume, 0, 0, through, 1, changes, 0, false, nowMillis));
  }

  private void receives(ReplicaId peer, Frame frame) {
    propagation.received(peer, frame, nowMillis * 1_000_000, nowMillis);
  }

  private void up(ReplicaId peer) {
    propagation.peerUp(peer, nowMillis * 1_000_000);
  }

  private static long patienceMillis() {
    return (long) SETTINGS.healMillis() + SETTINGS.retryMillis();
  }

  @Test
  void reachable_shipsItself() {
    up(HEARD);
    up(THIRD);
    hears(3 * patienceMillis());
    assertThat(heals).isEmpty();
  }

  /**
   * What it has under way is never acknowledged, so it soon ships nothing more, however often it
   * says that it is there: seed 75 with five datacenters.
   */
  @Test
  void heardOnly_isHealedFromAThirdOne() {
    up(HEARD);
    up(THIRD);
    hears(2 * patienceMillis());
    propagation.peerDown(HEARD.dc(), nowMillis * 1_000_000);
    hears(patienceMillis() - STEP_MILLIS);
    assertThat(heals).isEmpty();
    hears(patienceMillis());
    assertThat(heals).isNotEmpty().allMatch(heal -> heal.origin().equals(HEARD));
  }

  /** Its answers came by a connection that was cut, while the one to it is as it was. */
  @Test
  void whoIsAskedAndCouldNotAnswer_isAskedAgainAtOnce() {
    up(THIRD);
    receives(
        THIRD,
        new Frame.Updates(
            Frame.Kind.CATCH_UP,
            resumes.getLast().epoch(),
            1,
            0,
            VersionVector.EMPTY,
            Optional.of(new Frame.Cursor(1, 0, 0, 0, Optional.empty())),
            false,
            nowMillis,
            List.of()));
    while (heals.isEmpty()) {
      hears(STEP_MILLIS);
    }
    for (int i = 0; i < 2; i++) {
      says(THIRD, VersionVector.EMPTY.with(HEARD, 5), true);
      nowMillis++;
      propagation.tick(nowMillis * 1_000_000, nowMillis);
    }
    assertThat(heals).as("once more").hasSize(2);
  }

  @Test
  void neverReached_isHealedFromAThirdOne() {
    up(THIRD);
    hears(2 * patienceMillis());
    assertThat(heals).isNotEmpty().allMatch(heal -> heal.origin().equals(HEARD));
  }
}
