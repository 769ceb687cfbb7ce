package io.osier.propagation.receive;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The meaning of a silence: an outage after 1 s; for a peer at rest after 2.5 s, unless the next
 * frame travelled for long. The clocks differ by 10 s.
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
  void clockThatIsAhead_isMeasuredByTheFastestFrameOfTheLastHalfMinute() {
    assertThat(stream.aheadMillis()).as("20 ms on the way").isEqualTo(SKEW_MILLIS - 20);
    hears(1_000, 7);
    hears(1_100, 2_000);
    stream.heard(SECOND, 1_200, SECOND, Long.MIN_VALUE); // a frame without the time of its sending
    assertThat(stream.aheadMillis()).isEqualTo(SKEW_MILLIS - 7);
    hears(31_000, 50 + SKEW_MILLIS); // it was set
    assertThat(stream.aheadMillis()).isEqualTo(SKEW_MILLIS - 7);
    hears(61_000, 50 + SKEW_MILLIS);
    assertThat(stream.aheadMillis()).as("this clock is ahead, or none").isZero();
  }

  @Test
  void silenceOfMoreThanASecond_isAnOutage() {
    hears(1_120, 20);
    assertThat(wasOutage()).isFalse();
    hears(2_121, 20);
    assertThat(wasOutage()).isTrue();
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "none at rest but beyond the longest pause, 2500, 2500, 20, 5500, 5500, 20",
    "counts from the end of a rest, 600, 1500, 20, 1700, 2800, 20",
    "a frame that was long under way tells that there was no rest, 2000, 2000, 1020, 4000, 4000,"
        + " 1021"
  })
  void silence_aroundARest(
      String why, long rest, long heard, long way, long nextRest, long nextHeard, long nextWay) {
    restsUntil(rest);
    hears(heard, way);
    assertThat(wasOutage()).isFalse();
    restsUntil(nextRest);
    hears(nextHeard, nextWay);
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
