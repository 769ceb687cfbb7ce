package io.osier.datacenter.shard.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.time.SlewedClock;
import java.time.Instant;
import org.junit.jupiter.api.Test;

final class TimeTest {
  /** What two readings may differ by, one right after the other. */
  private static final long TOLERANCE_NANOS = 50_000;

  /** It was by up to a millisecond, and what expires was said to live on for longer than asked. */
  @Test
  void timeInUse_isNotBehindTheWallClock() {
    long nanos = System.nanoTime(); // first: a pause before the other reading is no lag
    Time time = Time.of("k-0", new SlewedClock(Time.wallMillis(), nanos));
    for (int i = 0; i < 20_000; i++) {
      long wall = Instant.now().minusNanos(TOLERANCE_NANOS).toEpochMilli();
      assertThat(i % 3 == 0 ? time.now().millis() : time.millis()).isGreaterThanOrEqualTo(wall);
    }
  }
}
