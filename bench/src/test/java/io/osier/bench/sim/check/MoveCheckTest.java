package io.osier.bench.sim.check;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ReplicaId;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Partitions that show a key half renamed, or not copied, or what was overwritten. */
final class MoveCheckTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final List<Long> NONE = List.of();

  private final MoveCheck check = new MoveCheck(Unit.pair().getFirst());

  private void moved(long number) {
    check.begins(EU, number);
    check.done(number);
  }

  @Test
  void nothingOrTheWholeOfOneProgram_isFine_andAHalfIsNoticed() {
    moved(1);
    moved(2);
    check.saw(US, EU, List.of(NONE, NONE, NONE));
    check.saw(US, EU, List.of(NONE, List.of(1L), List.of(1L)));
    List<List<List<Long>>> halves =
        List.of(
            List.of(List.of(2L), List.of(1L), List.of(1L)),
            List.of(NONE, List.of(2L), List.of(1L)),
            List.of(NONE, List.of(2L), NONE),
            List.of(NONE, List.of(1L, 2L), List.of(1L, 2L)));
    for (List<List<Long>> half : halves) {
      assertThatThrownBy(() -> check.saw(US, EU, half))
          .isInstanceOf(Violation.class)
          .hasMessageContaining("us/1 shows a part of what programs of eu/1 have moved: " + half);
    }
  }

  @Test
  void programThatWasNotDone_orAnothersDatacenter_isNoticed() {
    check.begins(EU, 1);
    check.never(1);
    check.begins(US, 2);
    for (long number = 1; number <= 2; number++) {
      List<Long> one = List.of(number);
      assertThatThrownBy(() -> check.saw(US, EU, List.of(NONE, one, one)))
          .hasMessageContaining("us/1 shows that program " + one.getFirst() + " of eu/1 was done");
    }
  }

  @Test
  void inTheEnd_theLastOneIsThere() {
    moved(1);
    check.begins(EU, 2);
    check.begins(EU, 3);
    check.done(3);
    check.done(2);
    check.begins(EU, 4); // has no answer
    check.ended(US, US, List.of(NONE, NONE, NONE));
    for (long last = 2; last <= 4; last++) {
      check.ended(US, EU, List.of(NONE, List.of(last), List.of(last)));
    }
    assertThatThrownBy(() -> check.ended(US, EU, List.of(NONE, List.of(1L), List.of(1L))))
        .hasMessageContaining("of eu/1 came last");
    assertThatThrownBy(() -> check.ended(US, EU, List.of(NONE, NONE, NONE)))
        .hasMessageContaining("of eu/1 came last");
  }
}
