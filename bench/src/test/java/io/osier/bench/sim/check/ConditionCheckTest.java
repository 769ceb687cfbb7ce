package io.osier.bench.sim.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.sim.plan.Effect;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Partitions that do an update although its condition does not hold, or not although it does, and
 * what callers may be told whatever the partitions did.
 */
final class ConditionCheckTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ObjectId LOCK = new ObjectId(Key.of("lock"), CrdtType.LWW_REGISTER);
  private static final Request.Condition ABSENT =
      new Request.Condition(List.of(), new Query.Whole(), new Reading.Single(Optional.empty()));

  private final ConditionCheck check = new ConditionCheck(Unit.pair().getFirst());

  /** A register that EU has assigned a value to, in its first update. */
  private static CrdtState lock(int value) {
    CrdtState nothing = CrdtState.bottom(CrdtType.LWW_REGISTER);
    return nothing.join(nothing.prepare(new Operation.Assign(Value.of(value)), EU, 1, 0, 1, 0));
  }

  private static Reply.Answer answers(Reading reading) {
    return new Reply.Answer(CrdtType.LWW_REGISTER, reading, VersionVector.EMPTY);
  }

  private static Reading holding(int value) {
    return new Reading.Single(Optional.of(Value.of(value)));
  }

  @Test
  void updateThatIsDone_whereItsConditionHolds_isFine_andElseIsNoticed() {
    Dot dot = new Dot(EU, 2);
    check.done("dc0", LOCK, ABSENT, dot, CrdtState.bottom(CrdtType.LWW_REGISTER));
    assertThat(check.done()).isEqualTo(1);
    assertThatThrownBy(() -> check.done("dc0", LOCK, ABSENT, dot, lock(7)))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("dc0 has done eu/1:2 of " + LOCK)
        .hasMessageContaining("although its condition did not hold: there was " + holding(7));
  }

  @Test
  void updateThatIsNotDone_whereItsConditionDoesNotHold_isFine_andElseIsNoticed() {
    check.notDone("dc0", LOCK, ABSENT, answers(holding(7)), lock(7));
    assertThat(check.notDone()).isEqualTo(1);
    Reply.Answer nothing = answers(new Reading.Single(Optional.empty()));
    assertThatThrownBy(
            () ->
                check.notDone(
                    "dc0", LOCK, ABSENT, nothing, CrdtState.bottom(CrdtType.LWW_REGISTER)))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("dc0 has not done an update of " + LOCK)
        .hasMessageContaining("although its condition held");
  }

  @Test
  void answerOfAnotherReading_isNoticed() {
    assertThatThrownBy(() -> check.notDone("dc0", LOCK, ABSENT, answers(holding(8)), lock(7)))
        .hasMessageContaining("dc0 says to an update's condition that " + LOCK + " is")
        .hasMessageEndingWith("and it is " + holding(7));
  }

  @Test
  void conditionOfAField_isReadWithinItsMap() {
    ObjectId map = new ObjectId(Key.of("map"), CrdtType.OR_MAP);
    CrdtState nothing = CrdtState.bottom(CrdtType.OR_MAP);
    Operation add = new Operation.Increment(3);
    CrdtState three =
        nothing.join(
            nothing.prepare(new Operation.UpdateFields(Effect.AMOUNT, add), EU, 1, 0, 1, 0));
    Request.Condition zero =
        new Request.Condition(List.of(Effect.AMOUNT), new Query.Whole(), new Reading.Count(0));
    Dot dot = new Dot(EU, 2);
    check.done("dc0", map, zero, dot, nothing);
    assertThatThrownBy(() -> check.done("dc0", map, zero, dot, three))
        .hasMessageContaining("dc0 has done eu/1:2 of " + map);
    Effect effect = new Effect(List.of(), 3);
    check.told(map, zero, effect, new Dot(EU, 1));
    assertThatThrownBy(() -> check.told(map, zero, effect, dot))
        .hasMessageContaining("two callers are told that they were the first with " + map)
        .hasMessageContaining("by eu/1:1 and eu/1:2");
  }

  private void told(ReplicaId at, ObjectId object, Request.Condition condition, int number) {
    check.told(object, condition, Effect.token(Value.of(number)), new Dot(at, number));
  }

  @Test
  void secondWinnerOfOneDatacenter_isNoticed() {
    told(EU, LOCK, ABSENT, 1);
    assertThatThrownBy(() -> told(EU, LOCK, ABSENT, 2))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("two callers are told that they were the first");
  }

  @Test
  void winnersOfOtherDatacentersLivesObjectsAndExpectations_areNone() {
    told(EU, LOCK, ABSENT, 1);
    told(new ReplicaId("us", 1), LOCK, ABSENT, 1);
    told(new ReplicaId("eu", 2), LOCK, ABSENT, 1);
    told(EU, new ObjectId(Key.of("other"), CrdtType.LWW_REGISTER), ABSENT, 2);
    Reading first = new Reading.Single(Optional.of(Value.of(1)));
    told(EU, LOCK, new Request.Condition(List.of(), new Query.Whole(), first), 3);
    assertThat(check.won()).isEqualTo(5);
  }

  @Test
  void updateThatLeavesWhatItExpects_winsNothing() {
    ObjectId counter = new ObjectId(Key.of("counter"), CrdtType.PN_COUNTER);
    Request.Condition zero =
        new Request.Condition(List.of(), new Query.Whole(), new Reading.Count(0));
    check.told(counter, zero, Effect.NONE, new Dot(EU, 1));
    check.told(counter, zero, Effect.NONE, new Dot(EU, 2));
    ObjectId wild = new ObjectId(Key.of("lock-wild"), CrdtType.LWW_REGISTER);
    told(EU, wild, ABSENT, 3);
    told(EU, wild, ABSENT, 4);
    assertThat(check.won()).isZero();
  }
}
