package io.osier.crdt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

final class BoundedCounterTest {
  private static final List<String> DCS = List.of("a", "b", "c");
  private static final Causal BOTTOM = Causal.bottom(CrdtType.BOUNDED_COUNTER);

  private static BoundedCounter counter(Causal state) {
    return (BoundedCounter) state.store();
  }

  private static Causal update(Causal state, String dc, long number, Operation operation) {
    ReplicaId id = new ReplicaId(dc, 1);
    return state.join(state.prepare(operation, id, number, state.context().through(id), 1, 0));
  }

  @Test
  void rights_areDividedEarnedUsedAndGiven() {
    Causal s = update(BOTTOM, "a", 1, new Operation.Bound(-10, 4, DCS));
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

  private static long down(Causal s, String dc) {
    return counter(s).downRights(dc);
  }

  private static long up(Causal s, String dc) {
    return counter(s).upRights(dc);
  }

  @Test
  void whatIsNotAllowed_isNamed() {
    Causal created = update(BOTTOM, "a", 1, new Operation.Bound(0, 5, DCS));
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
                        List.of(
                            new Operation.FieldUpdate(
                                new FieldId("f", CrdtType.BOUNDED_COUNTER),
                                new Operation.Increment(1)))),
                    io.osier.core.KeyspacePolicy.Limits.DEFAULT))
        .hasMessageContaining("cannot be a field");
  }

  /**
   * Replicas that use what they think they have never leave the bounds, in any view that has what
   * an update had seen, and rights are neither made nor lost.
   */
  @Property(tries = 1_000)
  void bounds_holdInEveryView(@ForAll long seed) {
    Random random = new Random(seed);
    List<Causal> states = new ArrayList<>(Collections.nCopies(3, BOTTOM));
    long[] numbers = new long[3];
    for (int i = 0; i < 200; i++) {
      int at = random.nextInt(3);
      Causal state = states.get(at);
      String dc = DCS.get(at);
      BoundedCounter c = counter(state);
      Operation operation;
      long amount = random.nextLong(9) - 4;
      if (!c.isCreated() || random.nextInt(20) == 0) {
        operation = new Operation.Bound(-random.nextInt(12), random.nextInt(12), DCS);
      } else if (random.nextInt(5) == 0) {
        states.set(at, state.join(states.get(random.nextInt(3))));
        continue;
      } else if (random.nextInt(6) == 0 && c.downRights(dc) > 0) {
        String to = DCS.get(random.nextInt(3));
        long gift = 1 + random.nextLong(c.downRights(dc));
        operation = new Operation.Transfer(to, gift, false);
      } else if (amount >= 0 ? amount <= c.upRights(dc) : -amount <= c.downRights(dc)) {
        operation = new Operation.Increment(amount);
      } else {
        continue;
      }
      states.set(at, update(state, dc, ++numbers[at], operation));
      check(states.get(at));
      check(states.get(0).join(states.get(1)));
    }
    check(states.get(0).join(states.get(1)).join(states.get(2)));
  }

  @Test
  void secondCreation_afterADatacenterWasAdded_givesItNoRights() {
    Causal s = update(BOTTOM, "b", 1, new Operation.Bound(-10, 10, List.of("b", "c")));
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
    Causal two = update(BOTTOM, "b", 1, new Operation.Bound(-10, 0, List.of("b", "c")));
    Causal three = update(BOTTOM, "a", 1, new Operation.Bound(-10, 0, DCS));
    Causal s = two.join(three);
    assertThat(List.of(down(s, "a"), down(s, "b"), down(s, "c"))).containsExactly(0L, 5L, 5L);
    assertThat(three.join(two)).isEqualTo(s);
    Causal none = s.join(update(BOTTOM, "d", 1, new Operation.Bound(-10, 0, List.of("d"))));
    for (String dc : List.of("a", "b", "c", "d")) {
      assertThat(down(none, dc)).as("nobody is in all lists").isZero();
    }
    assertThat(Encoded.decode(Encoded.encode(none))).isEqualTo(none);
  }

  /**
   * A datacenter, first in the order of names, is added while a counter may be created at any place
   * with the list that this place knows. The new one uses only what it earned until it has heard
   * all others, who then know of it: a counter that it knows by then, it knows with their lists.
   */
  @Property(tries = 2_000)
  void bounds_hold_whileADatacenterIsAdded(@ForAll long seed) {
    Random random = new Random(seed);
    List<Causal> states = new ArrayList<>(Collections.nCopies(3, BOTTOM));
    long[] numbers = new long[3];
    boolean[] knowsAll = {true, false, false};
    boolean[] heard = new boolean[3];
    for (int i = 0; i < 200; i++) {
      int at = random.nextInt(3);
      if (at > 0 && random.nextInt(30) == 0) {
        knowsAll[at] = true; // started again
      }
      int from = random.nextInt(3);
      boolean linked = at * from > 0 || (knowsAll[at] && knowsAll[from]);
      if (linked && random.nextInt(4) == 0) {
        states.set(at, states.get(at).join(states.get(from)));
        heard[from] |= at == 0 && from > 0;
        continue;
      }
      boolean settled = at > 0 || (heard[1] && heard[2]);
      act(random, states, numbers, at, knowsAll[at], settled);
      check(states.get(at));
      check(states.get(1).join(states.get(2)));
      check(states.get(0).join(states.get(1)).join(states.get(2)));
    }
  }

  private static void act(
      Random random,
      List<Causal> states,
      long[] numbers,
      int at,
      boolean knowsAll,
      boolean settled) {
    Causal state = states.get(at);
    String dc = DCS.get(at);
    BoundedCounter c = counter(state);
    ReplicaId id = new ReplicaId(dc, 1);
    long downs = settled ? c.downRights(dc) : c.earnedDownRights(id);
    long ups = settled ? c.upRights(dc) : c.earnedUpRights(id);
    List<String> known = knowsAll ? DCS : DCS.subList(1, 3);
    long amount = random.nextLong(9) - 4;
    Operation operation;
    if (!c.isCreated() || random.nextInt(20) == 0) {
      operation = new Operation.Bound(-random.nextInt(12), random.nextInt(12), known);
    } else if (random.nextInt(6) == 0 && downs > 0) {
      String to = known.get(random.nextInt(known.size()));
      operation = new Operation.Transfer(to, 1 + random.nextLong(downs), false);
    } else if (amount >= 0 ? amount <= ups : -amount <= downs) {
      operation = new Operation.Increment(amount);
    } else {
      return;
    }
    states.set(at, update(state, dc, ++numbers[at], operation));
  }

  private static void check(Causal state) {
    BoundedCounter c = counter(state);
    if (!c.isCreated()) {
      return;
    }
    assertThat(c.value()).isBetween(c.lower(), c.upper());
    assertThat(DCS.stream().mapToLong(c::downRights).sum()).isEqualTo(c.value() - c.lower());
    assertThat(DCS.stream().mapToLong(c::upRights).sum()).isEqualTo(c.upper() - c.value());
  }
}
