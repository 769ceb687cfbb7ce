package io.osier.crdt.types;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Encoded;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.OperationLimits;
import io.osier.crdt.state.CrdtState;
import java.util.List;
import org.junit.jupiter.api.Test;

final class BoundedCounterTest {
  static final List<String> DCS = List.of("a", "b", "c");
  static final CrdtState BOTTOM = CrdtState.bottom(CrdtType.BOUNDED_COUNTER);

  static BoundedCounter counter(CrdtState state) {
    return (BoundedCounter) state.store();
  }

  static CrdtState update(CrdtState state, String dc, long number, Operation operation) {
    ReplicaId id = new ReplicaId(dc, 1);
    return state.join(state.prepare(operation, id, number, state.context().through(id), 1, 0));
  }

  @Test
  void rights_areDividedEarnedUsedAndGiven() {
    CrdtState s = update(BOTTOM, "a", 1, new Operation.Bound(-10, 4, DCS));
    assertThat(List.of(down(s, "a"), down(s, "b"), down(s, "c"))).containsExactly(4L, 3L, 3L);
    assertThat(List.of(up(s, "a"), up(s, "b"), up(s, "c"))).containsExactly(2L, 1L, 1L);
    s = update(s, "a", 2, new Operation.Increment(2));
    assertThat(down(s, "a")).isEqualTo(6);
    assertThat(up(s, "a")).isZero();
    s = update(s, "a", 3, new Operation.Transfer("b", 5, false));
    assertThat(List.of(down(s, "a"), down(s, "b"))).containsExactly(1L, 8L);
    s = update(s, "b", 1, new Operation.Increment(-8));
    assertThat(counter(s).value()).isEqualTo(-6);
    assertThat(up(s, "b")).isEqualTo(9);
    s = update(s, "c", 1, new Operation.Bound(-11, 5, DCS));
    assertThat(counter(s).lower()).isEqualTo(-11);
    assertThat(down(s, "a") + down(s, "b") + down(s, "c")).isEqualTo(5);
    s = update(s, "c", 2, new Operation.Bound(-1, 0, DCS));
    assertThat(counter(s).lower()).as("never narrower").isEqualTo(-11);
  }

  private static long down(CrdtState s, String dc) {
    return counter(s).downRights(dc);
  }

  private static long up(CrdtState s, String dc) {
    return counter(s).upRights(dc);
  }

  @Test
  void createdAtTwoPlaces_countsItsFirstValueOnce() {
    Operation create = new Operation.Bound(0, 100, DCS, 30);
    CrdtState a = update(BOTTOM, "a", 1, create);
    CrdtState b = update(BOTTOM, "b", 1, create);
    CrdtState both = a.join(b);
    assertThat(counter(both).value()).isEqualTo(30);
    assertThat(both.join(a)).isEqualTo(both);
    assertThat(List.of(down(both, "a"), down(both, "b"), down(both, "c")))
        .containsExactly(10L, 10L, 10L);
    assertThat(up(both, "a") + up(both, "b") + up(both, "c")).isEqualTo(70);
    CrdtState sold = update(both, "a", 2, new Operation.Increment(-10));
    CrdtState again = update(sold, "a", 3, create);
    assertThat(counter(again).value()).as("a program that runs again").isEqualTo(20);
    CrdtState another = update(again, "b", 2, new Operation.Bound(0, 200, DCS, 50));
    assertThat(counter(another).value()).as("what it started at stays").isEqualTo(20);
    assertThat(counter(another).upper()).isEqualTo(200);
  }

  @Test
  void createdDifferentlyAtTwoPlaces_countsTheLargest_andTakesNoRightAway() {
    CrdtState a = update(BOTTOM, "a", 1, new Operation.Bound(0, 10, DCS, 4));
    a = update(a, "a", 2, new Operation.Increment(up(a, "a")));
    CrdtState b = update(BOTTOM, "b", 1, new Operation.Bound(2, 10, DCS, 9));
    CrdtState both = a.join(b);
    assertThat(both).isEqualTo(b.join(a));
    assertThat(counter(both).value()).isEqualTo(9 + 2);
    assertThat(counter(both).lower()).isZero();
    assertThat(counter(both).upper()).as("6 more than the first value").isEqualTo(15);
    assertThat(up(both, "a")).isZero();
  }

  @Test
  void farBounds_areTaken_orRefused() {
    long max = Long.MAX_VALUE;
    CrdtState none =
        update(
            BOTTOM,
            "a",
            1,
            new Operation.Bound(BoundedCounter.NO_LOWER, BoundedCounter.NO_UPPER, DCS, -5));
    assertThat(counter(none).upper()).isEqualTo(BoundedCounter.NO_UPPER);
    assertThat(counter(none).lower()).isEqualTo(BoundedCounter.NO_LOWER);
    assertThat(counter(none).value()).isEqualTo(-5);
    assertThatThrownBy(() -> update(BOTTOM, "a", 1, new Operation.Bound(-9, max - 1, DCS, -9)))
        .hasMessageContaining("OVERFLOW: the bounds are too far from the start value -9");
    assertThatThrownBy(() -> update(BOTTOM, "a", 1, new Operation.Bound(-max, 9, DCS, 9)))
        .hasMessageContaining("OVERFLOW");
    assertThatThrownBy(() -> update(BOTTOM, "a", 1, new Operation.Bound(3, 9, DCS, 2)))
        .hasMessageContaining("starts at 2");
  }

  @Test
  void rangeOfALong_isNotLeft_byAnUpdateNorByReplicasTogether() {
    long max = Long.MAX_VALUE;
    Operation create = new Operation.Bound(0, BoundedCounter.NO_UPPER, DCS, max - 5);
    CrdtState a = update(BOTTOM, "a", 1, create);
    assertThatThrownBy(() -> update(a, "a", 2, new Operation.Increment(6)))
        .hasMessageContaining("OVERFLOW");
    CrdtState most = update(a, "a", 2, new Operation.Increment(5));
    assertThat(counter(most).value()).isEqualTo(max);
    CrdtState b = update(BOTTOM, "b", 1, create);
    CrdtState both = most.join(update(b, "b", 2, new Operation.Increment(5)));
    assertThat(counter(both).value()).as("5 more than a long can be").isEqualTo(max);
    // The room of one and the first value of the other together exceed it, too.
    CrdtState low = update(BOTTOM, "b", 1, new Operation.Bound(0, max - 1, DCS));
    CrdtState far = update(BOTTOM, "a", 1, new Operation.Bound(0, max - 1, DCS, max - 5)).join(low);
    assertThat(counter(far).upper()).isEqualTo(BoundedCounter.NO_UPPER);
    assertThatThrownBy(() -> update(far, "b", 2, new Operation.Increment(6)))
        .hasMessageContaining("OVERFLOW");
  }

  @Test
  void whatIsNotAllowed_isNamed() {
    CrdtState created = update(BOTTOM, "a", 1, new Operation.Bound(0, 5, DCS));
    assertThatThrownBy(() -> update(BOTTOM, "a", 1, new Operation.Increment(1)))
        .isInstanceOf(OsierException.class)
        .hasMessageContaining("no bounds here yet");
    assertThatThrownBy(() -> update(BOTTOM, "a", 1, new Operation.Bound(1, 5, DCS)))
        .hasMessageContaining("must include it");
    assertThatThrownBy(() -> update(created, "a", 2, new Operation.Clear()))
        .hasMessageContaining("cannot be cleared");
    assertThatThrownBy(() -> update(created, "a", 2, new Operation.Transfer("b", 0, true)))
        .hasMessageContaining("above 0");
    assertThatThrownBy(
            () ->
                OperationLimits.check(
                    new Operation.UpdateFields(
                        new FieldId("f", CrdtType.BOUNDED_COUNTER), new Operation.Increment(1)),
                    io.osier.core.KeyspacePolicy.Limits.DEFAULT))
        .hasMessageContaining("cannot be a field");
  }

  @Test
  void secondCreation_afterADatacenterWasAdded_givesItNoRights() {
    CrdtState s = update(BOTTOM, "b", 1, new Operation.Bound(-10, 10, List.of("b", "c")));
    s = update(s, "b", 2, new Operation.Increment(-5));
    s = update(s, "c", 1, new Operation.Increment(-3));
    s = update(s, "a", 1, new Operation.Bound(-10, 10, DCS));
    assertThat(List.of(down(s, "a"), down(s, "b"), down(s, "c"))).containsExactly(0L, 0L, 2L);
    s = update(s, "a", 2, new Operation.Bound(-14, 10, DCS));
    assertThat(List.of(down(s, "a"), down(s, "b"), down(s, "c"))).containsExactly(0L, 2L, 4L);
    s = update(s, "c", 2, new Operation.Transfer("a", 4, false));
    assertThat(List.of(down(s, "a"), down(s, "b"), down(s, "c"))).containsExactly(4L, 2L, 0L);
  }

  @Test
  void creationsThatDoNotKnowEachOther_divideAmongThoseInBothLists() {
    CrdtState two = update(BOTTOM, "b", 1, new Operation.Bound(-10, 0, List.of("b", "c")));
    CrdtState three = update(BOTTOM, "a", 1, new Operation.Bound(-10, 0, DCS));
    CrdtState s = two.join(three);
    assertThat(List.of(down(s, "a"), down(s, "b"), down(s, "c"))).containsExactly(0L, 5L, 5L);
    assertThat(three.join(two)).isEqualTo(s);
    CrdtState none = s.join(update(BOTTOM, "d", 1, new Operation.Bound(-10, 0, List.of("d"))));
    for (String dc : List.of("a", "b", "c", "d")) {
      assertThat(down(none, dc)).as("nobody is in all lists").isZero();
    }
    assertThat(Encoded.decode(Encoded.encode(none))).isEqualTo(none);
  }

  @Test
  void whatADeadDatacenterHas_isInherited() {
    CrdtState s = update(BOTTOM, "a", 1, new Operation.Bound(-10, 4, DCS));
    s = update(s, "b", 1, new Operation.Transfer("a", 2, false));
    s = update(s, "a", 2, new Operation.Increment(-1));
    assertThat(List.of(down(s, "a"), down(s, "b"), down(s, "c"))).containsExactly(5L, 1L, 3L);
    assertThat(List.of(up(s, "a"), up(s, "b"), up(s, "c"))).containsExactly(3L, 1L, 1L);
    s = update(s, "b", 2, new Operation.Inherit("a"));
    assertThat(List.of(down(s, "a"), down(s, "b"), down(s, "c"))).containsExactly(0L, 6L, 3L);
    assertThat(List.of(up(s, "a"), up(s, "b"), up(s, "c"))).containsExactly(0L, 4L, 1L);
    assertThat(counter(s).earnedDownRights(new ReplicaId("b", 1))).isEqualTo(3);
    CrdtState again = update(s, "b", 3, new Operation.Inherit("a"));
    assertThat(List.of(down(again, "a"), down(again, "b"))).as("once").containsExactly(0L, 6L);
    CrdtState wider = update(s, "c", 1, new Operation.Bound(-13, 4, DCS));
    assertThat(down(wider, "a")).as("its part of wider bounds").isEqualTo(1);
    wider = update(wider, "b", 3, new Operation.Inherit("a"));
    assertThat(List.of(down(wider, "a"), down(wider, "b"))).containsExactly(0L, 8L);
    assertThat(Encoded.decode(Encoded.encode(wider))).isEqualTo(wider);
    assertThat(counter(wider).holders()).containsExactlyElementsOf(DCS);
    CrdtState unbounded =
        update(BOTTOM, "a", 1, new Operation.Bound(-10, BoundedCounter.NO_UPPER, DCS));
    unbounded = update(unbounded, "b", 1, new Operation.Inherit("a"));
    assertThat(up(unbounded, "b")).isEqualTo(Long.MAX_VALUE);
    assertThat(down(unbounded, "b")).isEqualTo(7);
  }
}
