package io.osier.crdt;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.state.CrdtState;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Replicas forget a removed object at different times, and then update it again. */
final class ForgettingTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);

  private static CrdtState increment(
      CrdtState state, ReplicaId origin, long number, long forgotten) {
    return state.prepare(
        new Operation.Increment(number),
        origin,
        number,
        state.context().through(origin),
        1,
        forgotten);
  }

  private static long value(CrdtState state) {
    return ((Reading.Count) state.read(new Query.Whole())).value();
  }

  @Test
  void counterThatOneReplicaForgot_isTheSameEverywhere() {
    CrdtState bottom = CrdtState.bottom(CrdtType.PN_COUNTER);
    CrdtState there = bottom.join(increment(bottom, EU, 17, 0));
    there = there.join(there.prepare(new Operation.Clear(), US, 4, 0, 2, 0));
    assertThat(there.isSpent()).isTrue();
    // EU has forgotten all of it. Its last update was the one that was reset, so the base of the
    // new sums has the number of the old base.
    CrdtState fresh = increment(bottom, EU, 18, 17);
    CrdtState here = bottom.join(fresh);
    assertThat(value(here)).isEqualTo(18);
    assertThat(value(there.join(fresh))).isEqualTo(18);
    assertThat(value(here.join(there))).isEqualTo(18);
    assertThat(there.join(fresh).trimmed()).isEqualTo(here.trimmed());
    // A reset elsewhere that has seen the new sums subtracts just those.
    CrdtState reset = there.join(fresh).prepare(new Operation.Clear(), US, 9, 4, 3, 0);
    CrdtState more = increment(here, EU, 20, 17);
    assertThat(value(here.join(more).join(reset))).isEqualTo(20);
    assertThat(value(there.join(reset).join(more).join(fresh))).isEqualTo(20);
  }

  @Test
  void stateThatHasSeenASlotAndForgotIt_takesItAway() {
    CrdtState bottom = CrdtState.bottom(CrdtType.PN_COUNTER);
    CrdtState old = bottom.join(increment(bottom, EU, 17, 0));
    CrdtState forgot = bottom.seen(CausalContext.range(EU, 0, 20));
    assertThat(old.join(forgot).isBottom()).isTrue();
    assertThat(forgot.join(old).isBottom()).isTrue();
    CrdtState seenLess = bottom.seen(CausalContext.range(EU, 0, 16));
    assertThat(value(old.join(seenLess))).isEqualTo(17);
  }

  /**
   * Simulator seed 1: a replica that had forgotten the object sent its origin a state without it.
   */
  @Test
  void whatAStateOfAnotherOneHasTakenAway_countsNowhereAgain() {
    CrdtState origin = CrdtState.bottom(CrdtType.OR_MAP);
    origin = origin.join(update(origin, "f1", new Operation.Increment(4), 55));
    long seen = origin.context().through(EU);
    origin =
        origin.join(origin.prepare(new Operation.RemoveFields(List.of("f1")), EU, 76, seen, 1, 0));
    CrdtState elsewhere = origin;
    CrdtState forgot = CrdtState.bottom(CrdtType.OR_MAP).join(update(origin, "f2", set(), 211));
    forgot = forgot.seen(CausalContext.range(EU, 0, 211));
    origin = origin.join(update(origin, "f2", set(), 211)).join(forgot);
    CrdtState more = update(origin, "f1", new Operation.Increment(3), 866);
    assertThat(f1(origin.join(more))).isEqualTo(3);
    assertThat(f1(elsewhere.join(update(elsewhere, "f2", set(), 211)).join(more))).isEqualTo(3);
  }

  private static Operation set() {
    return new Operation.Add(List.of(Value.of("e")));
  }

  private static CrdtState update(CrdtState state, String field, Operation operation, long number) {
    CrdtType type = operation instanceof Operation.Increment ? CrdtType.G_COUNTER : CrdtType.AW_SET;
    return state.prepare(
        new Operation.UpdateFields(new FieldId(field, type), operation),
        EU,
        number,
        state.context().through(EU),
        1,
        0);
  }

  private static long f1(CrdtState state) {
    Reading.Fields fields = (Reading.Fields) state.read(new Query.Whole());
    Reading f1 = requireNonNull(fields.fields().get(new FieldId("f1", CrdtType.G_COUNTER)));
    return ((Reading.Count) f1).value();
  }

  @Test
  void whatOnlyRemembersRemovals_isSpent_andNothingElseIs() {
    for (CrdtType type : CrdtType.values()) {
      CrdtState bottom = CrdtState.bottom(type);
      assertThat(bottom.isSpent()).as("%s", type).isTrue();
    }
    CrdtState map = CrdtState.bottom(CrdtType.OR_MAP);
    FieldId field = new FieldId("f", CrdtType.PN_COUNTER);
    map =
        map.join(
            map.prepare(
                new Operation.UpdateFields(field, new Operation.Increment(3)), EU, 1, 0, 1, 0));
    assertThat(map.isSpent()).isFalse();
    map = map.join(map.prepare(new Operation.RemoveFields(List.of("f")), EU, 2, 1, 1, 0));
    assertThat(map.store().isEmpty()).as("the counter's base is kept").isFalse();
    assertThat(map.isSpent()).isTrue();
    // The removal of an element from a remove-wins set wins over additions still to come.
    CrdtState set = CrdtState.bottom(CrdtType.RW_SET);
    set = set.join(set.prepare(new Operation.Remove(List.of(Value.of("x"))), EU, 1, 0, 1, 0));
    assertThat(set.isBottom()).isTrue();
    assertThat(set.isSpent()).isFalse();
  }

  /**
   * Which rows of a removed counter are left depends on how updates are grouped once some replica
   * has forgotten them; what a reader sees does not. The origin's first update after forgetting
   * says {@code (0, n]}, and a state that knew nothing of the origin takes that for its own past.
   */
  @Test
  void rowsThatTheOriginForgot_areLeftOrNot_andCountForNothing() {
    CrdtState bottom = CrdtState.bottom(CrdtType.OR_MAP);
    FieldId likes = new FieldId("likes", CrdtType.G_COUNTER);
    FieldId name = new FieldId("name", CrdtType.LWW_REGISTER);
    CrdtState there = bottom.join(update(bottom, EU, 17, likes, new Operation.Increment(4)));
    there = there.join(there.prepare(new Operation.RemoveFields(List.of("likes")), US, 4, 0, 2, 0));
    // EU has forgotten the object; a state from elsewhere, too, and it has not heard of EU since.
    Operation assign = new Operation.Assign(Value.of("Ada"));
    CrdtState fresh = update(bottom, EU, 18, name, assign);
    CrdtState forgot = bottom.join(update(bottom, US, 5, name, assign));
    CrdtState oneByOne = there.join(forgot).join(fresh);
    CrdtState grouped = there.join(forgot.join(fresh));
    assertThat(oneByOne).isNotEqualTo(grouped);
    assertThat(oneByOne.context()).isEqualTo(grouped.context());
    assertThat(oneByOne.trimmed()).isEqualTo(grouped.trimmed());
    CrdtState again = update(bottom, EU, 19, likes, new Operation.Increment(1));
    assertThat(oneByOne.join(again).read(new Query.Whole()))
        .isEqualTo(grouped.join(again).read(new Query.Whole()));
  }

  private static CrdtState update(
      CrdtState state, ReplicaId origin, long number, FieldId field, Operation operation) {
    return state.prepare(
        new Operation.UpdateFields(field, operation), origin, number, 0, number, number - 1);
  }
}
