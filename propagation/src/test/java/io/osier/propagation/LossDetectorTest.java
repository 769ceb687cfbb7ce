package io.osier.propagation;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.receive.ReceivedVector;
import io.osier.propagation.wire.Frame;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Checks when it is certain that no datacenter has an update that seems lost. */
final class LossDetectorTest {
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final ReplicaId LOST = new ReplicaId("ap", 1);
  private static final long PAUSE =
      1_000_000L * (StreamSettings.DEFAULT.healMillis() + StreamSettings.DEFAULT.retryMillis());

  private final ReplicationContext around =
      TestSurroundings.of(
          KeyspacePolicy.causal("k", Duration.ofSeconds(1)),
          RecoveredState.NOTHING,
          new TestSurroundings.Kept());
  private final ReceivedVector knowledge =
      new ReceivedVector(TestSurroundings.SELF, List.of("us"), RecoveredState.NOTHING, () -> 0);
  private final LossDetector losses = new LossDetector(around, knowledge);

  private void hears(boolean waiting, long nanos) {
    hears(waiting, 0, nanos);
  }

  private void hears(boolean waiting, long delayNanos, long nanos) {
    VersionVector none = VersionVector.EMPTY;
    knowledge.status(US, new Frame.Status(false, 0, 0, none, 1, none, 0, waiting, 0));
    losses.heard("us", delayNanos, nanos);
  }

  private boolean isCertain(long nanos) {
    losses.look();
    return losses.isCertain(LOST, nanos);
  }

  @Test
  void isCertain_whenAllHaveToldAnew_andLater() {
    hears(false, 0);
    assertThat(isCertain(0)).isFalse();
    assertThat(isCertain(2 * PAUSE)).as("nothing was heard since").isFalse();
    hears(false, PAUSE - 1);
    assertThat(isCertain(2 * PAUSE)).as("it may have left before").isFalse();
    hears(false, 2 * PAUSE);
    assertThat(isCertain(2 * PAUSE)).isTrue();
  }

  /** Such a status does not say what its sender has received meanwhile. */
  @Test
  void statusThatWasLongUnderWay_tellsOfWhenItLeft() {
    hears(false, 0);
    assertThat(isCertain(0)).isFalse();
    hears(false, 2 * PAUSE, 2 * PAUSE);
    assertThat(isCertain(2 * PAUSE)).isFalse();
    hears(false, PAUSE, 2 * PAUSE);
    assertThat(isCertain(2 * PAUSE)).isTrue();
  }

  /** After a clock was set, all frames seem to have travelled longer by the same time. */
  @Test
  void clockThatWasSet_makesItCertainLater() {
    long hour = 3_600_000_000_000L;
    hears(false, 0);
    assertThat(isCertain(0)).isFalse();
    hears(false, hour, LossDetector.PATIENCE * PAUSE);
    assertThat(isCertain(LossDetector.PATIENCE * PAUSE)).isFalse();
    long later = (LossDetector.PATIENCE + 1) * PAUSE;
    hears(false, hour, later);
    assertThat(isCertain(later)).isTrue();
  }

  @Test
  void whatSeemedNotLostMeanwhile_isLookedAtFromThenOn() {
    assertThat(isCertain(0)).isFalse();
    losses.look();
    hears(false, PAUSE);
    assertThat(isCertain(PAUSE)).isFalse();
    hears(false, 2 * PAUSE);
    assertThat(isCertain(2 * PAUSE)).isTrue();
  }

  @Test
  void whoeverWaits_mayHaveIt_butNotForEver() {
    assertThat(isCertain(0)).isFalse();
    hears(true, PAUSE);
    assertThat(isCertain(PAUSE)).isFalse();
    hears(true, LossDetector.PATIENCE * PAUSE - 1);
    assertThat(isCertain(LossDetector.PATIENCE * PAUSE - 1)).isFalse();
    assertThat(isCertain(LossDetector.PATIENCE * PAUSE)).isTrue();
  }

  @Test
  void oneThatWasNeverHeard_orNotSinceItWasAPeer_mayHaveIt() {
    assertThat(isCertain(0)).isFalse();
    assertThat(isCertain(PAUSE)).isFalse();
    hears(false, PAUSE);
    losses.remove("us");
    assertThat(isCertain(PAUSE)).isFalse();
  }
}
