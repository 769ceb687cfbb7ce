package io.osier.crdt;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.core.Value;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a join with a decomposed object reads of what lies outside, and brings into memory. */
final class DecomposedJoinTest {
  private static final ReplicaId SELF = TestEntries.SELF;
  private static final ReplicaId OTHER = new ReplicaId("us", 1);
  private static final int SIZE = 2_000;

  private final TestEntries outside = new TestEntries();

  private static Causal updated(Causal object, ReplicaId by, long number, Operation operation) {
    return object.join(object.prepare(operation, by, number, object.context().last(by), number, 0));
  }

  private static Causal set() {
    List<Value> elements = IntStream.range(0, SIZE).mapToObj(Value::of).toList();
    return updated(Causal.bottom(CrdtType.AW_SET), SELF, 1, new Operation.Add(elements));
  }

  private static Causal map() {
    List<Operation.FieldUpdate> fields =
        IntStream.range(0, SIZE).mapToObj(i -> assign(i, "a")).toList();
    return updated(Causal.bottom(CrdtType.OR_MAP), SELF, 1, new Operation.UpdateFields(fields));
  }

  private static Operation.FieldUpdate assign(int field, String value) {
    return new Operation.FieldUpdate(
        new FieldId("f" + field, CrdtType.LWW_REGISTER), new Operation.Assign(Value.of(value)));
  }

  @Test
  void setThatWasClearedAndFilledAgain_isNotLookedThrough() {
    Causal whole = set();
    Causal mine = outside.decomposed(whole);
    Causal cleared = updated(whole, OTHER, 1, new Operation.Clear());
    Causal theirs = updated(cleared, OTHER, 2, new Operation.Add(List.of(Value.of(7))));
    outside.given = 0;
    assertThat(mine.join(theirs)).isEqualTo(theirs);
    assertThat(outside.given).isLessThan(10);
  }

  @Test
  void versionsOfOneObject_areJoinedByWhatWasChanged() {
    Causal mine = outside.decomposed(set());
    Causal one = updated(mine, SELF, SIZE + 1, new Operation.Add(List.of(Value.of("x"))));
    Causal other = updated(mine, OTHER, 1, new Operation.Remove(List.of(Value.of(7))));
    Causal expected = Decomposition.whole(one).join(Decomposition.whole(other));
    outside.given = 0;
    Causal joined = one.join(other);
    assertThat(outside.given).isLessThan(10);
    assertThat(joined).isEqualTo(expected);
  }

  @Test
  void fieldsThatAreTheSame_stayOutside() {
    Causal whole = map();
    Causal mine = outside.decomposed(whole);
    Causal theirs = updated(whole, OTHER, 9, new Operation.UpdateFields(List.of(assign(7, "b"))));
    Causal joined = mine.join(theirs);
    assertThat(Decomposition.inMemory(joined)).isEqualTo(1);
    assertThat(joined).isEqualTo(theirs);
  }

  @Test
  void latestTimestamp_isThatOfWhatIsInMemory() {
    Causal mine = outside.decomposed(map());
    outside.given = 0;
    Causal changed = updated(mine, OTHER, 9, new Operation.UpdateFields(List.of(assign(7, "b"))));
    outside.given = 0;
    assertThat(changed.latestTimestamp()).isEqualTo(9);
    assertThat(outside.given).isZero();
  }
}
