package io.osier.crdt.types;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.UpdateContext;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Updates;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** What was there before an addition, told by the set's size, is what a search finds. */
final class AdditionAnswersProperties {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final ReplicaId OTHER = new ReplicaId("us", 1);

  private long number;

  private CrdtState with(CrdtState state, Operation operation) {
    return Updates.updateAt(state, 0, operation, next(SELF, state)).after();
  }

  private UpdateContext next(ReplicaId by, CrdtState state) {
    number++;
    return new UpdateContext(by, number, state.context().through(by), number, 0);
  }

  @Property
  void whatWasThere_isToldAsBySearching(
      @ForAll @IntRange(max = 1) int type,
      @ForAll @Size(max = 30) List<@IntRange(max = 60) Integer> steps) {
    CrdtState state = CrdtState.bottom(type == 0 ? CrdtType.AW_SET : CrdtType.G_SET);
    CrdtState others = state;
    for (int step : steps) {
      List<Value> element = List.of(Value.of(step % 6));
      switch (step / 6) {
        case 0 -> state = state.packLeaves();
        case 1 -> state = with(state, new Operation.Clear());
        case 2 -> {
          if (type == 0) {
            state = with(state, new Operation.Remove(element));
          }
        }
        case 3 -> {
          Operation add = new Operation.Add(element);
          others = Updates.updateAt(others, 0, add, next(OTHER, others)).after();
          state = state.join(others);
        }
        default -> {
          CrdtState before = state;
          state = with(state, new Operation.Add(element));
          assertThat(told(before, element, element, state))
              .contains(before.read(new Query.Among(element)));
        }
      }
    }
  }

  @Property(tries = 20)
  void whatIsNotTold_isSearched(@ForAll @IntRange(max = 5) int element) {
    List<Value> one = List.of(Value.of(element));
    List<Value> two = List.of(Value.of(element), Value.of(element + 1));
    CrdtState before = with(CrdtState.bottom(CrdtType.AW_SET), new Operation.Add(one));
    List<List<Value>> asked = new ArrayList<>(List.of(two, List.of(Value.of(element + 1))));
    for (List<Value> query : asked) {
      assertThat(told(before, one, query, with(before, new Operation.Add(one)))).isEmpty();
    }
    assertThat(told(before, two, two, with(before, new Operation.Add(two)))).isEmpty();
  }

  private static Optional<Reading> told(
      CrdtState before, List<Value> added, List<Value> asked, CrdtState after) {
    return Optional.ofNullable(
        ((TaggedSet) before.store())
            .readBefore(
                new Query.Among(asked), new Operation.Add(added), (TaggedSet) after.store()));
  }
}
