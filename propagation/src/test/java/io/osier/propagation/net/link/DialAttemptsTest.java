package io.osier.propagation.net.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class DialAttemptsTest {
  private static final long SELF = 200;
  private static final int OLD = PeerVersions.OLDEST;
  private static final PeerMessage.Refused MISMATCH =
      new PeerMessage.Refused(ErrorCode.VERSION_MISMATCH, "11 is not 9 or 10", 0);

  private final DialAttempts dialling =
      new DialAttempts(new ReplicaId("eu", SELF), PeerVersions.NEWEST);
  private final Random random = new Random(1);

  private static PeerMessage.Refused duplicate(long newest) {
    return new PeerMessage.Refused(ErrorCode.DUPLICATE_DC, "already runs", newest);
  }

  @Test
  void pausesGrow_untilAWelcome() {
    for (int i = 0; i < 10; i++) {
      assertThat(dialling.pauseMillis(random)).isLessThanOrEqualTo(DialAttempts.PAUSE_MILLIS_MAX);
    }
    assertThat(dialling.pauseMillis(random))
        .isGreaterThanOrEqualTo(DialAttempts.PAUSE_MILLIS_MAX / 2);
    dialling.welcomed(PeerVersions.NEWEST);
    assertThat(dialling.pauseMillis(random)).isLessThanOrEqualTo(DialAttempts.PAUSE_MILLIS_MIN);
  }

  @Test
  void sameFailure_isNewsOnce_andAgainAfterAWelcome() {
    assertThat(dialling.failed("refused")).isTrue();
    assertThat(dialling.failed("refused")).isFalse();
    assertThat(dialling.failed("no route")).isTrue();
    dialling.welcomed(PeerVersions.NEWEST);
    assertThat(dialling.failed("no route")).isTrue();
  }

  @Test
  void whileAClusterChangesOver_tlsIsTriedFirst_alsoAfterEachConnectionThatIsLost() {
    assertThat(dialling.isPlain()).isFalse();
    dialling.otherWay();
    assertThat(dialling.isPlain()).isTrue();
    dialling.welcomed(PeerVersions.NEWEST);
    assertThat(dialling.isPlain()).as("it did not speak TLS").isTrue();
    dialling.lost();
    assertThat(dialling.isPlain()).as("it may speak it by now").isFalse();
  }

  @Test
  void olderVersion_isSpokenOnlyAfterTheNewestWasRefusedInWords() {
    assertThat(dialling.version()).isEqualTo(PeerVersions.NEWEST);
    dialling.failed("nobody listens");
    assertThat(dialling.isOlder()).isFalse();
    for (int i = PeerVersions.NEWEST - 1; i >= PeerVersions.OLDEST; i--) {
      assertThat(dialling.refused(MISMATCH, OLD)).as("an older one is left").isFalse();
      assertThat(dialling.version()).as("the one before is the likeliest").isEqualTo(i);
      assertThat(dialling.isOlder()).isTrue();
      assertThat(dialling.pauseMillis(random))
          .as("it is soon found, however old it is")
          .isLessThanOrEqualTo(DialAttempts.PAUSE_MILLIS_MIN);
    }
    dialling.welcomed(PeerVersions.OLDEST);
    assertThat(dialling.isOlder()).isTrue();
    dialling.lost();
    assertThat(dialling.version()).as("it may have been upgraded").isEqualTo(PeerVersions.NEWEST);
  }

  @Test
  void whoRefusesTheOldestVersion_isReported_andTheNewestIsTriedAgain() {
    for (int i = PeerVersions.NEWEST; i > PeerVersions.OLDEST; i--) {
      assertThat(dialling.refused(MISMATCH, OLD)).isFalse();
    }
    assertThat(dialling.refused(MISMATCH, OLD)).isTrue();
    assertThat(dialling.version()).isEqualTo(PeerVersions.NEWEST);
    long pauses = 0;
    for (int i = PeerVersions.NEWEST; i > PeerVersions.OLDEST; i--) {
      dialling.refused(MISMATCH, OLD);
      pauses += dialling.pauseMillis(random);
    }
    assertThat(pauses)
        .as("they have no version in common, and no haste")
        .isGreaterThan(2 * DialAttempts.PAUSE_MILLIS_MAX);
  }

  /** In version 9 no datacenter could be sent its name. */
  @Test
  void longName_isNeverSpokenOfInAVersionThatKnowsNone() {
    DialAttempts of =
        new DialAttempts(new ReplicaId("northamerica-northeast1", SELF), PeerVersions.NEWEST);
    for (int i = PeerVersions.NEWEST; i > PeerVersions.LONG_NAMES; i--) {
      assertThat(of.refused(MISMATCH, PeerVersions.LONG_NAMES)).isFalse();
    }
    assertThat(of.refused(MISMATCH, PeerVersions.LONG_NAMES)).isTrue();
    assertThat(of.version()).isEqualTo(PeerVersions.NEWEST);
  }

  @Test
  void ownFormerLife_isWaitedFor_butNotForEver() {
    int waited = 0;
    while (!dialling.refused(duplicate(SELF - 1), OLD)) {
      waited++;
    }
    assertThat(waited * DialAttempts.PAUSE_MILLIS_MAX).isEqualTo(3 * Heartbeat.DEAD_MILLIS);
  }

  @Test
  void newerProcessOfTheName_andOtherReasons_areReportedAtOnce() {
    assertThat(dialling.refused(duplicate(SELF + 1), OLD)).isTrue();
    assertThat(
            dialling.refused(new PeerMessage.Refused(ErrorCode.CONFIGURATION, "cluster", 0), OLD))
        .isTrue();
    assertThat(dialling.pauseMillis(random))
        .isGreaterThanOrEqualTo(DialAttempts.PAUSE_MILLIS_MAX / 2);
  }
}
