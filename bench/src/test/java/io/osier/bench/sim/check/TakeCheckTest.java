package io.osier.bench.sim.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ReplicaId;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Partitions that give an element twice, or keep what was taken, or lose what was not. */
final class TakeCheckTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);

  private final TakeCheck check = new TakeCheck(Unit.pair().getFirst());

  private void put(long number, Long... taken) {
    check.begins(EU, number, 2);
    check.done(EU, number, List.of(taken));
  }

  @Test
  void whatWasTakenOnce_isGone_andTheRestIsThere() {
    put(1);
    put(2, 1L);
    put(3, 3L);
    check.ended(US, EU, Set.of(2L));
    check.ended(US, US, Set.of());
    assertThat(check.taken()).isEqualTo(2);
    assertThatThrownBy(() -> check.ended(US, EU, Set.of(1L, 2L)))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("us/1 shows 1 in the bag of eu/1, which was taken");
    assertThatThrownBy(() -> check.ended(US, EU, Set.of()))
        .hasMessageContaining("us/1 lacks [2] in the bag of eu/1");
    assertThatThrownBy(() -> check.ended(US, EU, Set.of(2L, 7L)))
        .hasMessageContaining("us/1 shows 7 in the bag of eu/1, which was not put there");
  }

  @Test
  void whatIsTakenTwice_orWasNeverThere_isNoticed() {
    put(1);
    put(2, 1L);
    assertThatThrownBy(() -> put(3, 1L))
        .hasMessageContaining("program 3 of eu/1 has taken 1, which another one has taken");
    assertThatThrownBy(() -> put(4, 9L))
        .hasMessageContaining("program 4 of eu/1 has taken 9, which was not put there");
    check.begins(US, 10, 1);
    assertThatThrownBy(() -> put(5, 10L)).hasMessageContaining("was not put there");
  }

  @Test
  void programWithoutAnAnswer_mayHaveTakenWhatIsLacking_butNoMore() {
    put(1);
    put(2);
    put(3);
    check.begins(EU, 4, 2);
    check.ended(US, EU, Set.of(1L, 4L));
    assertThatThrownBy(() -> check.ended(US, EU, Set.of(4L)))
        .hasMessageContaining("lacks [1, 2, 3]");
    put(5, 4L);
    assertThatThrownBy(() -> check.never(EU, 4))
        .hasMessageContaining("program 4 of eu/1 was not done, and another one has taken it");
    check.begins(EU, 6, 1);
    check.never(EU, 6);
    assertThatThrownBy(() -> check.ended(US, EU, Set.of(1L, 2L, 3L, 5L, 6L)))
        .hasMessageContaining("6 in the bag of eu/1, which was not put there");
  }
}
