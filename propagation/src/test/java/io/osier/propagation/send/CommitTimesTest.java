package io.osier.propagation.send;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** How far behind somebody is who lacks the updates after a number. */
class CommitTimesTest {
  private static final long MILLI = 1_000_000;

  @Test
  void lag_isTheAgeAndTheBytes_ofWhatIsMissing() {
    CommitTimes times = new CommitTimes();
    for (int i = 0; i < 10; i++) {
      times.committed(i, 100, i * 1_000L * MILLI); // number i + 1, a second apart
    }
    assertThat(times.lagNanos(0, 10_000 * MILLI)).as("all").isEqualTo(10_000 * MILLI);
    assertThat(times.lagBytes(0)).isEqualTo(1_000);
    assertThat(times.lagNanos(7, 10_000 * MILLI)).as("8 to 10").isEqualTo(3_000 * MILLI);
    assertThat(times.lagBytes(7)).isEqualTo(300);
    times.prune(7);
    assertThat(times.lagNanos(7, 10_000 * MILLI)).as("after pruning").isEqualTo(3_000 * MILLI);
    assertThat(times.lagBytes(9)).isEqualTo(100);
  }

  @Test
  void nothingCommitted_nothingIsBehind() {
    assertThat(new CommitTimes().lagNanos(0, MILLI)).isZero();
    assertThat(new CommitTimes().lagBytes(0)).isZero();
  }

  /** Never too little, and not much too much: as long as one sample stands for. */
  @Property(tries = 200)
  void lag_isAnUpperBound(
      @ForAll @Size(min = 1, max = 2_000) List<@IntRange(max = 500) Integer> gapsMillis,
      @ForAll @IntRange(max = 2_000) int has) {
    CommitTimes times = new CommitTimes();
    List<Long> committedAt = new ArrayList<>();
    long now = 0;
    for (int gap : gapsMillis) {
      now += gap * MILLI;
      times.committed(committedAt.size(), 10, now);
      committedAt.add(now);
    }
    if (has < committedAt.size()) {
      assertThat(times.lagNanos(has, now)).isGreaterThanOrEqualTo(now - committedAt.get(has));
      assertThat(times.lagBytes(has)).isGreaterThanOrEqualTo(10L * (committedAt.size() - has));
      // 2,000 updates in up to 1,000 s thin the samples out to one for 8 s at most.
      assertThat(times.lagNanos(has, now)).isLessThan(now - committedAt.get(has) + 9_000 * MILLI);
    }
  }
}
