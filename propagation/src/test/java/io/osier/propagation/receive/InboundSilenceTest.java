package io.osier.propagation.receive;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What a silence means: an outage after 1 s, and of one at rest after 2.5 s, unless what it says
 * then was long under way. The clocks differ by 10 s.
 */
final class InboundSilenceTest {
  private static final long SECOND = 1_000_000_000;
  private static final long SKEW_MILLIS = 10_000;

  private final StreamLiveness stream = new StreamLiveness(0);

  @BeforeEach
  void aFrameTook20Millis() {
    stream.arrived(100 + SKEW_MILLIS, 120);
    hears(120, 20);
  }

  private void hears(long millis, long wayMillis) {
    stream.heard(millis * 1_000_000, millis, SECOND, wayMillis - SKEW_MILLIS);
  }

  private void restsUntil(long millis) {
    stream.excuse(millis * 1_000_000, 3 * SECOND / 2);
  }

  private boolean wasOutage() {
    return stream.wasOutage(1);
  }

  @Test
  void silenceOfMoreThanASecond_isAnOutage() {
    hears(1_120, 20);
    assertThat(wasOutage()).isFalse();
    hears(2_121, 20);
    assertThat(wasOutage()).isTrue();
  }

  @Test
  void silenceAtRest_isNone_upToTheLongestPause() {
    restsUntil(2_500);
    hears(2_500, 20);
    assertThat(wasOutage()).isFalse();
    restsUntil(5_500);
    hears(5_500, 20);
    assertThat(wasOutage()).isTrue();
  }

  @Test
  void silenceAfterARest_countsFromItsEnd() {
    restsUntil(600);
    hears(1_500, 20);
    assertThat(wasOutage()).isFalse();
    restsUntil(1_700);
    hears(2_800, 20);
    assertThat(wasOutage()).isTrue();
  }

  @Test
  void frameThatWasLongUnderWay_tellsThatARestWasNone() {
    restsUntil(2_000);
    hears(2_000, 1_020);
    assertThat(wasOutage()).isFalse();
    restsUntil(4_000);
    hears(4_000, 1_021);
    assertThat(wasOutage()).isTrue();
  }

  @Test
  void frameThatDoesNotTellItsWay_isTakenForQuick() {
    restsUntil(2_000);
    stream.heard(2 * SECOND, 2_000, SECOND, Long.MIN_VALUE);
    assertThat(wasOutage()).isFalse();
  }

  @Test
  void whatWaitedSinceBeforeASilence_wasInterrupted() {
    assertThat(stream.wasSilentAfter(-1)).as("there was none").isFalse();
    hears(3_000, 20);
    assertThat(stream.wasSilentAfter(3 * SECOND)).isTrue();
    assertThat(stream.wasSilentAfter(3 * SECOND + 1)).isFalse();
  }

  @Test
  void frame_isLateByWhatItTookMoreThanTheFastest_ifThatIsKnown() {
    StreamLiveness ahead = new StreamLiveness(0);
    assertThat(ahead.delayNanos(20 - SKEW_MILLIS)).isZero();
    ahead.arrived(100, 120 + SKEW_MILLIS);
    assertThat(ahead.delayNanos(Long.MIN_VALUE)).isZero();
    stream.arrived(200 + SKEW_MILLIS, 300);
    assertThat(stream.shortestWayMillis()).isEqualTo(20 - SKEW_MILLIS);
    assertThat(stream.delayNanos(120 - SKEW_MILLIS)).isEqualTo(SECOND / 10);
    assertThat(stream.delayNanos(10 - SKEW_MILLIS)).isZero();
  }

  @Test
  void silence_countsFromTheStart() {
    StreamLiveness later = new StreamLiveness(5 * SECOND);
    assertThat(later.heardNanos()).isEqualTo(5 * SECOND);
    later.heard(6 * SECOND, 6_000, SECOND, Long.MIN_VALUE);
    assertThat(later.wasOutage(1)).isFalse();
    assertThat(new StreamLiveness(-SECOND).aliveNanos()).isEqualTo(-SECOND);
  }
}
