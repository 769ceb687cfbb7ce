package io.osier.crdt.types;

import static io.osier.crdt.types.BoundedCounterTest.BOTTOM;
import static io.osier.crdt.types.BoundedCounterTest.DCS;
import static io.osier.crdt.types.BoundedCounterTest.counter;
import static io.osier.crdt.types.BoundedCounterTest.update;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.crdt.Operation;
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

/** The bounds hold, whatever replicas do that use the rights which they know of. */
final class BoundedCounterProperties {
  /** An act of a replica. Every list can be carried out: impossible acts are left out. */
  private sealed interface Act {
    record Bound(int at, long down, long up, long first) implements Act {}

    record Add(int at, long amount) implements Act {}

    /**
     * Gives rights away, if it has some.
     *
     * @param gift counted around
     */
    record Give(int at, int to, long gift) implements Act {}

    /** Learns everything that another replica knows. */
    record Hear(int at, int from) implements Act {}

    /** Restarts, and then knows of the added datacenter. */
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

  /** First values of counters: mostly 0. */
  private static Arbitrary<Long> firsts() {
    return Arbitraries.frequencyOf(
        Tuple.of(2, Arbitraries.just(0L)), Tuple.of(1, Arbitraries.longs().between(-5, 5)));
  }

  private static Arbitrary<Long> amounts() {
    return Arbitraries.longs().between(-4, 4);
  }

  /** Three replicas that carry out acts. */
  private static final class Replicas {
    final List<CrdtState> states = new ArrayList<>(Collections.nCopies(3, BOTTOM));
    private final long[] numbers = new long[3];

    /** Carries out an act with the names that the replica knows, and the rights that it may use. */
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
   * Replicas that use the rights which they know of never leave the bounds, in any view that
   * includes what each of its updates had seen, and rights are neither made nor lost.
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
