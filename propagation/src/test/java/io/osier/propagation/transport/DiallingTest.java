package io.osier.propagation.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class DiallingTest {
  private static final long SELF = 200;

  private final Dialling dialling = new Dialling(SELF);
  private final Random random = new Random(1);

  private static PeerMessage.Refused duplicate(long newest) {
    return new PeerMessage.Refused(ErrorCode.DUPLICATE_DC, "already runs", newest);
  }

  @Test
  void pausesGrow_untilAWelcome() {
    for (int i = 0; i < 10; i++) {
      assertThat(dialling.pauseMillis(random)).isLessThanOrEqualTo(Dialling.PAUSE_MILLIS_MAX);
    }
    assertThat(dialling.pauseMillis(random)).isGreaterThanOrEqualTo(Dialling.PAUSE_MILLIS_MAX / 2);
    dialling.welcomed();
    assertThat(dialling.pauseMillis(random)).isLessThanOrEqualTo(Dialling.PAUSE_MILLIS_MIN);
  }

  @Test
  void sameFailure_isNewsOnce_andAgainAfterAWelcome() {
    assertThat(dialling.failed("refused")).isTrue();
    assertThat(dialling.failed("refused")).isFalse();
    assertThat(dialling.failed("no route")).isTrue();
    dialling.welcomed();
    assertThat(dialling.failed("no route")).isTrue();
  }

  @Test
  void whileAClusterChangesOver_tlsIsTriedFirst_alsoAfterEachConnectionThatIsLost() {
    assertThat(dialling.isPlain()).isFalse();
    dialling.otherWay();
    assertThat(dialling.isPlain()).isTrue();
    dialling.welcomed();
    assertThat(dialling.isPlain()).as("it did not speak TLS").isTrue();
    dialling.lost();
    assertThat(dialling.isPlain()).as("it may speak it by now").isFalse();
  }

  /** One that speaks only the former version closes at a greeting that it cannot read. */
  @Test
  void whoClosesWithoutAWord_isGreetedInTheOldestVersion_untilThatConnectionIsLost() {
    assertThat(dialling.version()).isEqualTo(PeerMessage.PROTOCOL_VERSION);
    dialling.unanswered();
    assertThat(dialling.version()).isEqualTo(PeerMessage.PROTOCOL_VERSION_MIN);
    assertThat(dialling.doubtsVersion()).as("it may have been away before").isTrue();
    assertThat(dialling.version()).isEqualTo(PeerMessage.PROTOCOL_VERSION);
    dialling.unanswered();
    assertThat(dialling.doubtsVersion()).isFalse();
    dialling.welcomed();
    assertThat(dialling.version()).isEqualTo(PeerMessage.PROTOCOL_VERSION_MIN);
    dialling.lost();
    assertThat(dialling.version())
        .as("it may have been upgraded")
        .isEqualTo(PeerMessage.PROTOCOL_VERSION);
    dialling.unanswered();
    dialling.unanswered();
    assertThat(dialling.version())
        .as("it was not the version")
        .isEqualTo(PeerMessage.PROTOCOL_VERSION);
  }

  @Test
  void oldVersion_isBelievedAtOnce_whereTheNewestWasRefusedInWords() {
    var mismatch = new PeerMessage.Refused(ErrorCode.VERSION_MISMATCH, "5 is not 3 or 4", 0);
    for (int i = PeerMessage.PROTOCOL_VERSION - 1; i >= PeerMessage.PROTOCOL_VERSION_MIN; i--) {
      dialling.refused(mismatch);
      assertThat(dialling.version()).as("the one before is the likeliest").isEqualTo(i);
      assertThat(dialling.doubtsVersion()).isFalse();
    }
    dialling.refused(mismatch);
    assertThat(dialling.version()).isEqualTo(PeerMessage.PROTOCOL_VERSION);
    dialling.lost();
    dialling.unanswered();
    assertThat(dialling.doubtsVersion()).as("it may have been upgraded").isTrue();
  }

  @Test
  void oldVersion_isDoubtedAgain_whereNobodyWasThereMeanwhile() {
    dialling.unanswered();
    assertThat(dialling.doubtsVersion()).isTrue();
    dialling.failed("nobody listens");
    dialling.unanswered();
    assertThat(dialling.doubtsVersion()).isTrue();
    dialling.unanswered();
    dialling.unanswered();
    dialling.unanswered();
    assertThat(dialling.doubtsVersion()).isTrue();
    dialling.unanswered();
    assertThat(dialling.doubtsVersion()).isFalse();
  }

  @Test
  void newestVersion_isNotDoubted() {
    assertThat(dialling.doubtsVersion()).isFalse();
  }

  @Test
  void ownFormerLife_isWaitedFor_butNotForEver() {
    int waited = 0;
    while (!dialling.refused(duplicate(SELF - 1))) {
      waited++;
    }
    assertThat(waited * Dialling.PAUSE_MILLIS_MAX).isEqualTo(3 * Heartbeat.DEAD_MILLIS);
  }

  @Test
  void newerProcessOfTheName_andOtherReasons_areReportedAtOnce() {
    assertThat(dialling.refused(duplicate(SELF + 1))).isTrue();
    assertThat(dialling.refused(new PeerMessage.Refused(ErrorCode.CONFIGURATION, "cluster", 0)))
        .isTrue();
    assertThat(dialling.pauseMillis(random)).isGreaterThanOrEqualTo(Dialling.PAUSE_MILLIS_MAX / 2);
  }
}
