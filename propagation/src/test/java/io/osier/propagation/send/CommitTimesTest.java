package io.osier.propagation.send;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** How far a peer is behind that lacks the updates after a number. */
class CommitTimesTest {
  private static final long MILLI = 1_000_000;

  @Test
  void lag_isTheAgeAndTheBytes_ofWhatIsMissing() {
    CommitTimes times = new CommitTimes(0, 0);
    for (int i = 0; i < 10; i++) {
      times.committed(i + 1, 100, i * 1_000L * MILLI); // a second apart
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
  void whatFormerLivesCommitted_isAsOldAsThisOne_andTakesNothing() {
    CommitTimes times = new CommitTimes(7, MILLI);
    assertThat(times.lagNanos(3, 5 * MILLI)).isEqualTo(4 * MILLI);
    assertThat(times.lagBytes(3)).isZero();
    assertThat(times.bytesUpTo(7)).isZero();
    assertThat(times.committedBy(MILLI - 1)).as("before it began").isZero();
    assertThat(times.committedBy(MILLI)).isEqualTo(7);
  }

  @Test
  void committedBy_countsAllThatIsOlder_theLastOneToo() {
    CommitTimes times = new CommitTimes(0, 0);
    for (int i = 0; i < 10; i++) {
      times.committed(i + 1, 100, i * 1_000L * MILLI);
    }
    assertThat(times.committedBy(4_500 * MILLI)).as("0 s to 4 s").isBetween(4L, 5L);
    assertThat(times.committedBy(9_000 * MILLI)).isEqualTo(10);
  }

  @Test
  void bytes_areSharedOutBetweenSamples() {
    CommitTimes times = new CommitTimes(0, 0);
    times.committed(100, 1_000, 0);
    times.committed(101, 50, 100 * MILLI);
    times.committed(200, 4_950, 110 * MILLI);
    assertThat(times.bytesUpTo(0)).isZero();
    assertThat(times.bytesUpTo(50)).isEqualTo(500);
    assertThat(times.bytesUpTo(100)).isEqualTo(1_000);
    assertThat(times.bytesUpTo(150)).isEqualTo(3_500);
    assertThat(times.bytesUpTo(200)).isEqualTo(6_000);
    assertThat(times.bytesUpTo(300)).isEqualTo(6_000);
  }

  /**
   * A peer that is away for long must not make connected peers look as if they were behind, too.
   */
  @Test
  void whatWasJustCommitted_isKnownWell_howeverLongSomebodyLacksTheFirst() {
    CommitTimes times = new CommitTimes(0, 0);
    long now = 0;
    for (int i = 1; i <= 864_000; i++) { // a day, ten a second
      now = i * 100L * MILLI;
      times.committed(i, 10, now);
    }
    assertThat(times.lagNanos(0, now)).isEqualTo(now);
    assertThat(times.lagNanos(863_990, now)).as("1 s").isBetween(900 * MILLI, 1_200 * MILLI);
    assertThat(times.lagNanos(863_400, now)).as("60 s").isBetween(59_000 * MILLI, 66_000 * MILLI);
    assertThat(times.committedBy(now - 2_000 * MILLI)).isBetween(863_978L, 863_980L);
    times.prune(863_990);
    assertThat(times.lagNanos(863_990, now)).isBetween(900 * MILLI, 1_200 * MILLI);
  }

  /** Never too little, and too much by at most the time that one sample stands for. */
  @Property(tries = 200)
  void lag_isAnUpperBound(
      @ForAll @Size(min = 1, max = 2_000) List<@IntRange(max = 500) Integer> gapsMillis,
      @ForAll @IntRange(max = 2_000) int has) {
    CommitTimes times = new CommitTimes(0, 0);
    List<Long> committedAt = new ArrayList<>();
    long now = 0;
    for (int gap : gapsMillis) {
      now += gap * MILLI;
      committedAt.add(now);
      times.committed(committedAt.size(), 10, now);
    }
    if (has < committedAt.size()) {
      assertThat(times.lagNanos(has, now)).isGreaterThanOrEqualTo(now - committedAt.get(has));
      assertThat(times.lagBytes(has)).isGreaterThanOrEqualTo(10L * (committedAt.size() - has));
      long age = now - committedAt.get(has);
      assertThat(times.lagNanos(has, now)).isLessThanOrEqualTo(age + age / 5 + 600 * MILLI);
      long at = committedAt.get(has);
      long then = committedAt.stream().filter(other -> other <= at).count();
      assertThat(times.committedBy(at)).isLessThanOrEqualTo(then);
    }
  }
}
