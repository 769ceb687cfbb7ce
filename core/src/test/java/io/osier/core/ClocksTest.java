package io.osier.core;

import static org.assertj.core.api.Assertions.assertThat;

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
    assertThat(HybridClock.toMillis(c)).isEqualTo(1_000);
    assertThat(HybridClock.toMillis(clock.next(2_000))).isEqualTo(2_000);
  }

  @Test
  void hybrid_exceedsWhatItObserved() {
    HybridClock clock = new HybridClock();
    clock.observe(HybridClock.ofMillis(5_000));
    assertThat(clock.next(1_000)).isGreaterThan(HybridClock.ofMillis(5_000));
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
    assertThat(HybridClock.toMillis(last)).isEqualTo(1_001);
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
      long before = clock.read(1_000_000 + 1_000, SECOND);
      assertThat(before).isEqualTo(1_001_000);
      long after = clock.read(1_000_000 + 2_000 + jump, 2 * SECOND);
      assertThat(clock.jumped()).isTrue();
      assertThat(after - before).isBetween(950L, 1_050L);
      long hour = clock.read(1_000_000 + 3_602_000 + jump, 3_602 * SECOND);
      assertThat(clock.jumped()).isFalse();
      assertThat(hour).isGreaterThan(after);
      assertThat(hour - after).isBetween((long) (3_600_000 * 0.949), (long) (3_600_000 * 1.051));
    }
  }

  @Test
  void slewed_ignoresAMonotonicReadingFromThePast() {
    SlewedClock clock = new SlewedClock(1_000, 10 * SECOND);
    assertThat(clock.read(1_000, 9 * SECOND)).isEqualTo(1_000);
  }
}
