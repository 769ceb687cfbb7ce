package io.osier.bench.sim.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.sim.check.ProgramCheck.View;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.Reading;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Partitions that cut programs in two, lose some, forget guards, or refuse without a reason. */
final class ProgramCheckTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);

  private final ProgramCheck check = new ProgramCheck(Unit.pair().getFirst());

  private static Reading numbers(long... numbers) {
    return new Reading.Many(Arrays.stream(numbers).mapToObj(Value::of).toList());
  }

  private static View view(Reading first, Reading second, long ofEu) {
    return View.of(List.of(first, second, new Reading.Count(ofEu)), List.of(EU));
  }

  @Test
  void wholePrograms_areFine_andAHalfIsNoticed() {
    int first = check.begins(EU, 0);
    int other = check.begins(US, 0);
    check.done(first);
    check.saw(US, view(numbers(first, other), numbers(other, first), 1), by -> true);
    check.saw(EU, view(numbers(first, other), numbers(first), 1), EU::equals);
    assertThat(check.views()).isEqualTo(2);
    assertThatThrownBy(
            () -> check.saw(US, view(numbers(first, other), numbers(first), 1), by -> true))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("us/1 shows a part of program " + other + " of us/1");
    assertThatThrownBy(() -> check.saw(US, view(numbers(first), numbers(first), 2), by -> true))
        .hasMessageContaining("us/1 counts 2 programs of eu/1, and shows others");
  }

  @Test
  void programThatNobodyAskedFor_orWhoseCallerIsToldThatItFailed_isNoticed() {
    int failed = check.begins(EU, 0);
    check.saw(EU, view(numbers(failed), numbers(failed), 1), by -> true); // not known yet
    check.failed(failed);
    for (int number : new int[] {failed, failed + 1}) {
      assertThatThrownBy(() -> check.saw(EU, view(numbers(number), numbers(number), 1), by -> true))
          .hasMessageContaining("shows program " + number + ", which was never done");
    }
  }

  @Test
  void acknowledgedProgram_isThereInTheEnd_unlessItsMemoryIsLost() {
    int done = check.begins(EU, 0);
    check.done(done);
    check.begins(US, 0); // has no answer
    View nothing = view(numbers(), numbers(), 0);
    check.ended(US, 0, 50, view(numbers(done), numbers(done), 1), Set.of());
    check.ended(US, 0, 50, nothing, Set.of(EU));
    check.ended(US, 50, 100, nothing, Set.of());
    assertThatThrownBy(() -> check.ended(US, 0, 50, nothing, Set.of()))
        .hasMessageContaining("us/1 lacks program " + done + " of eu/1");
  }

  @Test
  void twoThatReadTheSame_ofOneDatacenter_areNoticed() {
    check.done(check.begins(EU, 1));
    check.done(check.begins(US, 1));
    check.done(check.begins(EU, 2));
    assertThat(check.done()).isEqualTo(3);
    int second = check.begins(EU, 2);
    assertThatThrownBy(() -> check.done(second))
        .hasMessageContaining("eu/1 has done programs 2 and 3, which had both read 1")
        .hasMessageContaining("an update is lost");
  }

  @Test
  void refusal_isFine_whereAnotherOneCameBetween_andElseIsNoticed() {
    int before = check.before(EU);
    int first = check.begins(EU, 1);
    int second = check.begins(EU, 1);
    assertThat(check.before(EU)).isEqualTo(-1);
    assertThat(check.before(US)).isZero();
    check.done(first);
    check.refused(second, before);
    int later = check.before(EU);
    int third = check.begins(EU, 2);
    assertThatThrownBy(() -> check.refused(third, later))
        .hasMessageContaining("eu/1 has not done program 2, and nothing had come between");
    int plain = check.begins(EU, 0);
    assertThatThrownBy(() -> check.refused(plain, -1)).isInstanceOf(Violation.class);
  }

  @Test
  void register_hasWhatWasDone_andPerhapsWhatHasNoAnswer() {
    check.done(check.begins(EU, 1));
    check.done(check.begins(EU, 2));
    check.begins(EU, 3);
    check.ended(US, EU, 2);
    check.ended(US, EU, 3);
    for (int value : new int[] {1, 4}) {
      assertThatThrownBy(() -> check.ended(US, EU, value))
          .hasMessageContaining("us/1 has " + value + " in the register of eu/1");
    }
  }
}
