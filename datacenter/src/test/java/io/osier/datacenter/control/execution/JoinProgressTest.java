package io.osier.datacenter.control.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.codec.MalformedException;
import io.osier.datacenter.control.view.CatchUp;
import java.util.Arrays;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What one that joins says of how far it is. */
final class JoinProgressTest {
  private static final long SECOND = 1_000_000_000;

  private final JoinProgress progress = new JoinProgress();

  private static ObjectCounts holds(Map<String, Long> objects) {
    return new ObjectCounts(new TreeMap<>(objects));
  }

  private CatchUp look(long second, long shop, long bytes) {
    return progress.look(holds(Map.of("shop", shop, "bank", 0L)), bytes, 1, 3, second * SECOND);
  }

  @Test
  void timeLeft_isOfTheObjectsThatAreMissing_asFastAsTheyCameLately() {
    assertThat(look(0, 0, 0).objectsThere()).isEmpty();
    assertThat(look(0, 0, 0).secondsLeft()).isEmpty();
    progress.heard("eu", holds(Map.of("shop", 900L, "bank", 100L, "other", 7_000L)));
    progress.heard("us", holds(Map.of("shop", 1_000L, "bank", 50L)));
    CatchUp after = look(2, 100, 4 << 20);
    assertThat(after.objectsThere()).isEqualTo(OptionalLong.of(1_100));
    assertThat(after.objectsPerSecond()).isEqualTo(50);
    assertThat(after.bytesPerSecond()).isEqualTo(2 << 20);
    assertThat(after.secondsLeft()).isEqualTo(OptionalLong.of(20));
    assertThat(after.words())
        .isEqualTo(
            "1 of 3 partitions have caught up with the others; 100 of 1100 objects and 4.0 MiB have"
                + " come, 2.0 MiB/s; about 20 s left");
  }

  @Test
  void rates_areOfTheLastTenSeconds() {
    progress.heard("eu", holds(Map.of("shop", 2_000L)));
    for (int second = 0; second <= 100; second++) {
      look(second, 10L * second, second);
    }
    // Nothing has come since: the rate falls, and in the end nobody knows how long it takes.
    assertThat(look(105, 1_000, 100).objectsPerSecond()).isEqualTo(5);
    CatchUp stalled = look(115, 1_000, 100);
    assertThat(stalled.objectsPerSecond()).isZero();
    assertThat(stalled.secondsLeft()).isEmpty();
  }

  @Test
  void timeLeft_isNotKnown_whenAsManyObjectsAreHere() {
    progress.heard("eu", holds(Map.of("shop", 10L)));
    look(0, 0, 0);
    assertThat(look(1, 12, 100).secondsLeft()).isEmpty();
    assertThat(look(1, 12, 100).words()).contains("12 of 12 objects").doesNotContain("left");
  }

  @Test
  void others_areAskedOnceASecond() {
    assertThat(progress.asks(5)).isTrue();
    assertThat(progress.asks(5 + SECOND / 2)).isFalse();
    assertThat(progress.asks(5 + SECOND)).isTrue();
    assertThat(progress.asks(6 + SECOND)).isFalse();
  }

  @Test
  void notes_sayWhatIsHeld_andWhatIsNoneIsRefused() {
    ObjectCounts some = holds(Map.of("shop", 3L, "bank", Long.MAX_VALUE / 2));
    byte[] note = some.encode();
    assertThat(ObjectCounts.isAnswer(note)).isTrue();
    assertThat(ObjectCounts.isQuestion(note)).isFalse();
    assertThat(ObjectCounts.decode(note)).isEqualTo(some);
    assertThat(ObjectCounts.isQuestion(ObjectCounts.question())).isTrue();
    assertThat(ObjectCounts.isAnswer(ObjectCounts.question())).isFalse();
    for (int length = 1; length < note.length; length++) {
      byte[] cut = Arrays.copyOf(note, length);
      assertThatThrownBy(() -> ObjectCounts.decode(cut)).isInstanceOf(MalformedException.class);
    }
    assertThatThrownBy(() -> ObjectCounts.decode(Arrays.copyOf(note, note.length + 1)))
        .isInstanceOf(MalformedException.class);
  }
}
