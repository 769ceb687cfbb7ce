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
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

final class BoundedCounterTest {
  private static final List<String> DCS = List.of("a", "b", "c");
  private static final CrdtState BOTTOM = CrdtState.bottom(CrdtType.BOUNDED_COUNTER);

  private static BoundedCounter counter(CrdtState state) {
    return (BoundedCounter) state.store();
  }

  private static CrdtState update(CrdtState state, String dc, long number, Operation operation) {
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
        .hasMessageContaining("OVERFLOW: the bounds are further from -9");
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
    // The room of one and the first value of the other are beyond it, too.
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

  /** What a replica does. Every list can be carried out: what is not possible is left out. */
  private sealed interface Act {
    /** Sets bounds. */
    record Bound(int at, long down, long up, long first) implements Act {}

    /** Adds, if it has the rights. */
    record Add(int at, long amount) implements Act {}

    /**
     * Gives rights away, if it has some.
     *
     * @param gift counted around
     */
    record Give(int at, int to, long gift) implements Act {}

    /** Hears of all that another one knows. */
    record Hear(int at, int from) implements Act {}

    /** Is started again, and knows then of the one that was added. */
    record Restart(int at) implements Act {}
  }

  @Provide
  Arbitrary<List<Act>> acts() {
    Arbitrary<Integer> at = Arbitraries.integers().between(0, 2);
    Arbitrary<Long> bound = Arbitraries.longs().between(0, 11);
    return Arbitraries.<Act>frequencyOf(
            Tuple.of(2, Combinators.combine(at, bound, bound, firsts()).as(Act.Bound::new)),
            Tuple.of(10, Combinators.combine(at, amounts()).as(Act.Add::new)),
            Tuple.of(3, Combinators.combine(at, at, bound).as(Act.Give::new)),
            Tuple.of(5, Combinators.combine(at, at).as(Act.Hear::new)),
            Tuple.of(1, at.map(Act.Restart::new)))
        .list()
        .ofMaxSize(120)
        .withSizeDistribution(RandomDistribution.uniform())
        .withoutEdgeCases();
  }

  /** What counters start at: mostly at 0, as most do. */
  private static Arbitrary<Long> firsts() {
    return Arbitraries.frequencyOf(
        Tuple.of(2, Arbitraries.just(0L)), Tuple.of(1, Arbitraries.longs().between(-5, 5)));
  }

  private static Arbitrary<Long> amounts() {
    return Arbitraries.longs().between(-4, 4);
  }

  /** Three replicas that carry acts out. */
  private static final class Replicas {
    final List<CrdtState> states = new ArrayList<>(Collections.nCopies(3, BOTTOM));
    private final long[] numbers = new long[3];

    /** With the names that the replica knows, and what it may use. */
    void act(Act act, int at, List<String> known, long downs, long ups) {
      Operation operation =
          switch (act) {
            case Act.Bound b ->
                new Operation.Bound(b.first - b.down, b.first + b.up, known, b.first);
            case Act.Give g ->
                downs > 0
                    ? new Operation.Transfer(
                        known.get(g.to % known.size()), 1 + g.gift % downs, false)
                    : null;
            case Act.Add a ->
                (a.amount >= 0 ? a.amount <= ups : -a.amount <= downs)
                    ? new Operation.Increment(a.amount)
                    : null;
            default -> null;
          };
      CrdtState state = states.get(at);
      if (operation != null
          && (counter(state).isCreated() || operation instanceof Operation.Bound)) {
        states.set(at, update(state, DCS.get(at), ++numbers[at], operation));
      }
    }

    void inherit(int at, String from) {
      CrdtState state = states.get(at);
      if (counter(state).isCreated()) {
        Operation operation = new Operation.Inherit(from);
        states.set(at, update(state, DCS.get(at), ++numbers[at], operation));
      }
    }

    void hear(int at, int from) {
      states.set(at, states.get(at).join(states.get(from)));
    }

    CrdtState all() {
      return states.get(0).join(states.get(1)).join(states.get(2));
    }
  }

  private static int at(Act act) {
    return switch (act) {
      case Act.Bound b -> b.at;
      case Act.Add a -> a.at;
      case Act.Give g -> g.at;
      case Act.Hear h -> h.at;
      case Act.Restart r -> r.at;
    };
  }

  /**
   * Replicas that use what they think they have never leave the bounds, in any view that has what
   * an update had seen, and rights are neither made nor lost.
   */
  @Property(tries = 1_000)
  void bounds_holdInEveryView(@ForAll("acts") List<Act> acts) {
    Replicas replicas = new Replicas();
    for (Act act : acts) {
      int at = at(act);
      if (act instanceof Act.Hear h) {
        replicas.hear(h.at, h.from);
      } else {
        BoundedCounter c = counter(replicas.states.get(at));
        replicas.act(act, at, DCS, c.downRights(DCS.get(at)), c.upRights(DCS.get(at)));
      }
      check(replicas.states.get(at));
      check(replicas.states.get(0).join(replicas.states.get(1)));
    }
    check(replicas.all());
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

  /**
   * A datacenter, first in the order of names, is added while a counter may be created at any place
   * with the list that this place knows. The new one uses only what it earned until it has heard
   * all others, who then know of it: a counter that it knows by then, it knows with their lists.
   */
  @Property(tries = 2_000)
  void bounds_hold_whileADatacenterIsAdded(@ForAll("acts") List<Act> acts) {
    Replicas replicas = new Replicas();
    boolean[] knowsAll = {true, false, false};
    boolean[] heard = new boolean[3];
    for (Act act : acts) {
      int at = at(act);
      switch (act) {
        case Act.Restart r -> knowsAll[at] = true;
        case Act.Hear h -> {
          if (at * h.from > 0 || (knowsAll[at] && knowsAll[h.from])) {
            replicas.hear(at, h.from);
            heard[h.from] |= at == 0 && h.from > 0;
          }
        }
        default -> {
          BoundedCounter c = counter(replicas.states.get(at));
          String dc = DCS.get(at);
          ReplicaId id = new ReplicaId(dc, 1);
          boolean settled = at > 0 || (heard[1] && heard[2]);
          replicas.act(
              act,
              at,
              knowsAll[at] ? DCS : DCS.subList(1, 3),
              settled ? c.downRights(dc) : c.earnedDownRights(id),
              settled ? c.upRights(dc) : c.earnedUpRights(id));
        }
      }
      check(replicas.states.get(at));
      check(replicas.states.get(1).join(replicas.states.get(2)));
      check(replicas.all());
    }
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

  /**
   * The first by name dies, and is inherited in the steps of {@code Departures} in the control
   * plane, each of which the others take at their own times: they cease to hear it; when both have,
   * they hear all that the other one knows and then no longer name it for new counters; when both
   * do, they hear the other one again; when both have, the heir hears all once more, and may take
   * what the dead one has from then on, whatever comes.
   */
  @Property(tries = 3_000)
  void bounds_hold_whenADeadOneIsInherited(
      @ForAll("acts") List<Act> acts,
      @ForAll @IntRange(max = 60) int death,
      @ForAll @Size(8) List<@IntRange(max = 12) Integer> pauses,
      @ForAll boolean created) {
    Replicas replicas = new Replicas();
    int[] steps = new int[3];
    int[] next = {0, death + pauses.get(0), death + pauses.get(4)};
    for (int i = 0; i < acts.size(); i++) {
      for (int at = 1; at < 3; at++) {
        boolean mayStep = i >= next[at] && steps[at] <= steps[3 - at] && steps[at] < 3;
        if (mayStep) {
          if (steps[at] > 0) {
            replicas.hear(at, 3 - at);
          }
          steps[at]++;
          next[at] = i + pauses.get(4 * (at - 1) + steps[at]);
          if (steps[1] == 3 && steps[2] == 3) {
            replicas.hear(1, 2);
          }
        }
      }
      Act act = acts.get(i);
      int at = at(act);
      boolean tooEarly = !created && act instanceof Act.Bound && steps[1] + steps[2] < 3;
      if ((at == 0 && i >= death) || tooEarly) {
        continue;
      }
      if (act instanceof Act.Hear h) {
        if (at == 0 || h.from != 0 || steps[at] == 0) {
          replicas.hear(at, h.from);
        }
      } else {
        BoundedCounter c = counter(replicas.states.get(at));
        String dc = DCS.get(at);
        List<String> known = steps[at] > 1 ? DCS.subList(1, 3) : DCS;
        replicas.act(act, at, known, c.downRights(dc), c.upRights(dc));
      }
      if (steps[1] == 3 && steps[2] == 3) {
        replicas.inherit(1, "a");
        BoundedCounter heir = counter(replicas.states.get(1));
        assertThat(List.of(heir.downRights("a"), heir.upRights("a"))).containsExactly(0L, 0L);
      }
      check(replicas.states.get(at));
      check(replicas.states.get(1).join(replicas.states.get(2)));
    }
  }

  private static void check(CrdtState state) {
    BoundedCounter c = counter(state);
    if (!c.isCreated()) {
      return;
    }
    assertThat(c.value()).isBetween(c.lower(), c.upper());
    assertThat(DCS.stream().mapToLong(c::downRights).sum()).isEqualTo(c.value() - c.lower());
    assertThat(DCS.stream().mapToLong(c::upRights).sum()).isEqualTo(c.upper() - c.value());
  }
}
