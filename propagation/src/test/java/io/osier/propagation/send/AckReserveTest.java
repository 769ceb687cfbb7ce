package io.osier.propagation.send;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class AckReserveTest {
  private static final long MILLI = 1_000_000;

  private static AckReserve after(long slaMillis, int rounds, int every, long lateMillis) {
    AckReserve reserve = new AckReserve(() -> slaMillis * MILLI);
    for (int i = 1; i <= rounds; i++) {
      reserve.sample(i % every == 0 ? lateMillis * MILLI : 0);
    }
    return reserve;
  }

  @Test
  void untilSomethingIsLearned_aTenthIsSetAside() {
    assertThat(after(2_000, 10, 5, 700).nanos(0)).isEqualTo(205 * MILLI);
  }

  @Test
  void stalls_areCoveredOnceTheyWereSeen_byOneRoundOfAThousandToo() {
    assertThat(after(2_000, 1_000, 100, 400).nanos(80 * MILLI)).isBetween(400 * MILLI, 600 * MILLI);
    assertThat(after(2_000, 1_500, 1_000, 400).nanos(80 * MILLI))
        .isBetween(400 * MILLI, 600 * MILLI);
  }

  @Test
  void whatWasLongAgo_fades() {
    AckReserve reserve = after(2_000, 1_000, 100, 400);
    for (int i = 0; i < 20_000; i++) {
      reserve.sample(0);
    }
    assertThat(reserve.nanos(80 * MILLI)).isEqualTo(205 * MILLI);
  }

  @Test
  void oneStall_isRememberedForTwoThousandRounds_andHalfOfItForTwoThousandMore() {
    AckReserve reserve = after(2_000, 2_047, 2_047, 600);
    for (int i = 0; i < 2_048; i++) {
      reserve.sample(0);
      assertThat(reserve.nanos(80 * MILLI)).isGreaterThan(600 * MILLI);
    }
    for (int i = 0; i < 2_048; i++) {
      reserve.sample(0);
      assertThat(reserve.nanos(80 * MILLI)).isBetween(300 * MILLI, 500 * MILLI);
    }
    reserve.sample(0);
    assertThat(reserve.nanos(80 * MILLI)).isEqualTo(205 * MILLI);
  }

  @Test
  void aLongBound_needsNoTenth() {
    assertThat(after(60_000, 1_000, 100, 50).nanos(80 * MILLI)).isEqualTo(205 * MILLI);
  }

  @Test
  void thereIsAlwaysTimeLeftToHold() {
    assertThat(after(500, 1_000, 2, 450).nanos(200 * MILLI)).isEqualTo(155 * MILLI);
  }

  @Test
  void outagesAreNotLearned() {
    assertThat(after(500, 1_000, 2, 3_000).nanos(0)).isEqualTo(55 * MILLI);
  }
}
