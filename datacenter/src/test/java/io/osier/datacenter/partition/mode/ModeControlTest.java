package io.osier.datacenter.partition.mode;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.KeyspacePolicy.Consistency;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.testing.Partitions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** When the objects that are hot begin to be held. */
final class ModeControlTest {
  private static final long MILLI = 1_000_000;
  private static final long HOLD_MILLIS = 1_600;
  private static final int OBJECTS = 400;
  private static final long STEP_MILLIS = 10;

  private static ModeControl modes(String dc, Consistency consistency) {
    return new ModeControl(
        Partitions.config(
            new ReplicaId(dc, 1),
            List.of("us", "ap"),
            consistency == Consistency.CAUSAL
                ? KeyspacePolicy.causal("k", Duration.ofSeconds(2))
                : KeyspacePolicy.session("k", Duration.ofSeconds(2))),
        0);
  }

  /**
   * For each object when it left by the end of its first window; -1 if it was held all the time.
   */
  private static List<Long> firstEnds(ModeControl modes) {
    List<ObjectId> objects =
        IntStream.range(0, OBJECTS)
            .mapToObj(i -> new ObjectId(Key.of("counter:" + i), CrdtType.PN_COUNTER))
            .toList();
    Long[] found = new Long[OBJECTS];
    Long[] ended = new Long[OBJECTS];
    Arrays.fill(ended, -1L);
    for (long millis = 0; millis < 10_000; millis += STEP_MILLIS) {
      modes.decide(millis * MILLI, () -> HOLD_MILLIS * MILLI);
      for (int i = 0; i < OBJECTS; i++) {
        if (modes.holdsNext(objects.get(i), millis * MILLI)) {
          found[i] = found[i] == null ? millis : found[i];
        } else if (found[i] != null) {
          assertThat(ended[i]).as("the first window ends once").isEqualTo(-1);
          assertThat(millis - found[i])
              .as("within the time to hold")
              .isLessThanOrEqualTo(HOLD_MILLIS);
          ended[i] = millis;
        }
        modes.updated(objects.get(i), 40, CrdtState.bottom(CrdtType.PN_COUNTER));
      }
    }
    assertThat(found).as("all were found at one moment").containsOnly(found[0]);
    return List.of(ended);
  }

  @Test
  void objectsThatAreFoundHotTogether_leaveAllOverTheWindow() {
    List<Long> ends = firstEnds(modes("eu", Consistency.SESSION));
    TreeSet<Long> times = new TreeSet<>(ends);
    assertThat(times.last() - times.first()).isBetween(HOLD_MILLIS * 9 / 10, HOLD_MILLIS);
    for (int tenth = 0; tenth < 10; tenth++) {
      long from = times.first() + tenth * HOLD_MILLIS / 10;
      assertThat(ends.stream().filter(t -> t >= from && t < from + HOLD_MILLIS / 10).count())
          .isBetween(OBJECTS / 20L, OBJECTS / 5L);
    }
  }

  @Test
  void sameObjects_leaveAtOtherTimesAtAnotherDatacenter() {
    assertThat(firstEnds(modes("eu", Consistency.SESSION)))
        .isNotEqualTo(firstEnds(modes("us", Consistency.SESSION)));
  }

  @Test
  void whereEverythingLeavesTogether_nothingIsSpread() {
    assertThat(firstEnds(modes("eu", Consistency.CAUSAL))).containsOnly(-1L);
  }

  @Test
  void alteredPolicy_endsNoWindowThatBeganBefore() {
    ModeControl modes = modes("eu", Consistency.SESSION);
    ObjectId hot = new ObjectId(Key.of("counter"), CrdtType.PN_COUNTER);
    long millis = 0;
    for (; modes.stateObjects() == 0; millis += STEP_MILLIS) {
      modes.updated(hot, 40, CrdtState.bottom(CrdtType.PN_COUNTER));
      modes.decide(millis * MILLI, () -> HOLD_MILLIS * MILLI);
    }
    modes.configure(
        KeyspacePolicy.session("k", Duration.ofSeconds(2)).with(KeyspacePolicy.Propagation.STATE));
    for (long end = millis + 2 * HOLD_MILLIS; millis < end; millis += STEP_MILLIS) {
      assertThat(modes.holdsNext(hot, millis * MILLI)).isTrue();
    }
  }
}
