package io.osier.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.time.HybridClock;
import io.osier.core.time.SlewedClock;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class ClocksTest {
  private static final long SECOND = 1_000_000_000L;

  @Test
  void hybrid_growsThoughPhysicalTimeStandsOrGoesBack() {
    HybridClock clock = new HybridClock();
    long a = clock.next(1_000);
    long b = clock.next(1_000);
    long c = clock.next(10);
    assertThat(b).isGreaterThan(a);
    assertThat(c).isGreaterThan(b);
    assertThat(c >>> 16).isEqualTo(1_000);
    assertThat(clock.next(2_000) >>> 16).isEqualTo(2_000);
  }

  @Test
  void hybrid_exceedsWhatItObserved() {
    HybridClock clock = new HybridClock();
    clock.observe(5_000L << 16);
    assertThat(clock.next(1_000)).isGreaterThan(5_000L << 16);
  }

  @Test
  void hybrid_carriesWhenTheCounterOverflows() {
    HybridClock clock = new HybridClock();
    long last = clock.next(1_000);
    for (int i = 0; i < 70_000; i++) {
      long next = clock.next(1_000);
      assertThat(next).isGreaterThan(last);
      last = next;
    }
    assertThat(last >>> 16).isEqualTo(1_001);
  }

  @Test
  void hybrid_ofDifferentRanks_neverGivesTheSame() {
    HybridClock a = new HybridClock(3);
    HybridClock b = new HybridClock(255);
    Set<Long> given = new HashSet<>();
    long last = 0;
    for (int i = 0; i < 2_000; i++) {
      long next = a.next(1_000 + i / 100);
      assertThat(next).isGreaterThan(last);
      last = next;
      assertThat(given.add(next)).isTrue();
      assertThat(given.add(b.next(1_000 + i / 100))).isTrue();
      if (i % 7 == 0) {
        b.observe(next);
      }
    }
  }

  @Test
  void slewed_followsAJumpSlowly_andNeverGoesBack() {
    for (long jump : new long[] {3_600_000, -3_600_000}) {
      SlewedClock clock = new SlewedClock(1_000_000, 0);
      double before = clock.read(1_000_000 + 1_000, SECOND);
      assertThat(before).isEqualTo(1_001_000);
      double after = clock.read(1_002_000.0 + jump, 2 * SECOND);
      assertThat(clock.jumped()).isTrue();
      assertThat(after - before).isBetween(950.0, 1_050.0);
      double hour = clock.read(4_602_000.0 + jump, 3_602 * SECOND);
      assertThat(clock.jumped()).isFalse();
      assertThat(hour).isGreaterThan(after);
      assertThat(hour - after).isBetween(3_600_000 * 0.949, 3_600_000 * 1.051);
    }
  }

  @Test
  void slewed_ignoresAMonotonicReadingFromThePast() {
    SlewedClock clock = new SlewedClock(1_000, 10 * SECOND);
    assertThat(clock.read(1_000, 9 * SECOND)).isEqualTo(1_000);
  }

  /**
   * Otherwise a client that gave something half a second to live by the wall clock read 501 ms
   * left.
   */
  @Test
  void slewed_isNotBehindTheWallClock_byAPartOfAMillisecond() {
    double wall = 1_700_000_000_000.9;
    SlewedClock clock = new SlewedClock(wall, 0);
    for (int i = 1; i < 10_000; i++) {
      double now = wall + i / 8.0;
      assertThat(clock.read(now, i * 125_000L)).isGreaterThanOrEqualTo(now - 0.001);
    }
  }
}
