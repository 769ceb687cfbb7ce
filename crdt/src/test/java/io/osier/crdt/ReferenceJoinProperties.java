package io.osier.crdt;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.crdt.state.CrdtState;
import io.osier.crdt.types.History;
import io.osier.crdt.types.History.Event;
import io.osier.crdt.types.History.Plan;
import io.osier.crdt.types.History.Plans;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/**
 * Compares the real join with the plain one, step by step, in any order: even if an update comes
 * before those that it has seen, and if groups of deltas have gaps.
 */
final class ReferenceJoinProperties {
  /**
   * One delivery: a delta or a state, or two of them joined.
   *
   * @param part counted around
   * @param other the one it is joined with before; none where it is the same
   * @param onto whether it is joined to what is there, or that to it
   */
  private record Delivery(int part, int other, boolean onto) {}

  @Provide
  Arbitrary<List<Delivery>> deliveries() {
    Arbitrary<Integer> parts =
        Arbitraries.integers().between(0, 40).withDistribution(RandomDistribution.uniform());
    Arbitrary<Delivery> single =
        Combinators.combine(parts, Arbitraries.of(true, false))
            .as((part, onto) -> new Delivery(part, part, onto));
    Arbitrary<Delivery> joined =
        Combinators.combine(parts, parts, Arbitraries.of(true, false)).as(Delivery::new);
    return Arbitraries.oneOf(single, single, joined).list().ofMaxSize(12);
  }

  @Provide
  Arbitrary<Plan> plansOfDots() {
    return Plans.plans(
        Arrays.stream(CrdtType.values())
            // it consists of rows: see BoundedCounterTest
            .filter(t -> t != CrdtType.BOUNDED_COUNTER)
            .toList());
  }

  @Property(tries = 3_000)
  void everyStepOfAnyDelivery_isTheJoinByDefinition(
      @ForAll("plansOfDots") Plan plan,
      @ForAll boolean fromNothing,
      @ForAll("deliveries") List<Delivery> deliveries) {
    History history = plan.run();
    List<CrdtState> pool = new ArrayList<>();
    history.events.stream().map(Event::delta).forEach(pool::add);
    history.sites.forEach(site -> pool.add(site.state));
    CrdtState state = fromNothing ? CrdtState.bottom(plan.type()) : pool.getFirst();
    ReferenceJoin reference = ReferenceJoin.of(state);
    for (Delivery delivery : deliveries) {
      CrdtState part = pool.get(delivery.part % pool.size());
      if (delivery.other != delivery.part) {
        CrdtState other = pool.get(delivery.other % pool.size());
        ReferenceJoin group = ReferenceJoin.of(part).join(ReferenceJoin.of(other));
        part = part.join(other);
        assertThat(ReferenceJoin.of(part)).isEqualTo(group);
      }
      reference = reference.join(ReferenceJoin.of(part));
      state = delivery.onto ? state.join(part) : part.join(state);
      assertThat(ReferenceJoin.of(state)).isEqualTo(reference);
    }
  }

  /**
   * Updates prepared on replicas that received others' updates in no causal order converge, too.
   */
  @Property(tries = 1_000)
  void withoutCausalDelivery_replicasConverge(
      @ForAll(supplier = Plans.class) Plan plan,
      @ForAll @Size(3) List<@Size(max = 30) List<@IntRange(max = 30) Integer>> orders) {
    History history = plan.runWithoutCausality();
    List<CrdtState> results = new ArrayList<>();
    for (int i = 0; i < history.sites.size(); i++) {
      CrdtState state = history.sites.get(i).state;
      for (Event event : History.ordered(history.events, orders.get(i))) {
        state = state.join(event.delta());
      }
      results.add(state);
    }
    assertThat(results).containsOnly(results.getFirst());
  }
}
