package io.osier.crdt;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.crdt.History.Event;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Assume;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * The real join against the plain one, step by step, in any order: also where an update comes
 * before those that it has seen, and where groups of deltas have gaps.
 */
final class ReferenceJoinProperties {
  @Property(tries = 3_000)
  void everyStepOfAnyDelivery_isTheJoinByDefinition(@ForAll CrdtType type, @ForAll long seed) {
    Assume.that(type != CrdtType.BOUNDED_COUNTER); // made of rows, not of dots: BoundedCounterTest
    History history = new History(type, seed).run(40);
    Random random = new Random(seed ^ 5);
    List<Causal> pool = new ArrayList<>();
    history.events.stream().map(Event::delta).forEach(pool::add);
    history.sites.forEach(site -> pool.add(site.state));
    Causal state = random.nextBoolean() ? Causal.bottom(type) : pool.getFirst();
    ReferenceJoin reference = ReferenceJoin.of(state);
    for (int i = 0; i < 12; i++) {
      Causal part = pool.get(random.nextInt(pool.size()));
      if (random.nextInt(3) == 0) {
        Causal other = pool.get(random.nextInt(pool.size()));
        ReferenceJoin group = ReferenceJoin.of(part).join(ReferenceJoin.of(other));
        part = part.join(other);
        assertThat(ReferenceJoin.of(part)).isEqualTo(group);
      }
      reference = reference.join(ReferenceJoin.of(part));
      state = random.nextBoolean() ? state.join(part) : part.join(state);
      assertThat(ReferenceJoin.of(state)).isEqualTo(reference);
    }
  }

  /** Updates prepared on replicas that got others' updates in no causal order converge, too. */
  @Property(tries = 1_000)
  void withoutCausalDelivery_replicasConverge(@ForAll CrdtType type, @ForAll long seed) {
    History history = new History(type, seed);
    Random random = history.random;
    for (int i = 0; i < 30; i++) {
      History.Site site = history.sites.get(random.nextInt(3));
      if (random.nextInt(3) == 0 || history.events.isEmpty()) {
        site.update(history.operation(type, 0), 1 + random.nextInt(3));
      } else {
        Event event = history.events.get(random.nextInt(history.events.size()));
        site.state = site.state.join(event.delta());
      }
    }
    List<Causal> results = new ArrayList<>();
    for (History.Site site : history.sites) {
      Collections.shuffle(history.events, random);
      for (Event event : history.events) {
        site.state = site.state.join(event.delta());
      }
      results.add(site.state);
    }
    assertThat(results).containsOnly(results.getFirst());
  }
}
