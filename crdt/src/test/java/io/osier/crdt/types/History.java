package io.osier.crdt.types;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.UpdateContext;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Updates;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ArbitrarySupplier;
import net.jqwik.api.Combinators;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.Tuple;

/**
 * A history of one object at three replicas: which replica made which update, having seen which
 * others. It follows from a {@link Plan}, which a property draws, and which shrinks to the few
 * steps that matter.
 */
public final class History {
  /** A step of a plan. Every plan can be carried out: impossible steps are left out. */
  sealed interface Step {
    /**
     * A replica updates the object. Nothing happens if a bounded counter has no bounds yet and gets
     * none, or if something is added to a text.
     *
     * @param gap how many numbers its sequencer gave to other objects before
     */
    record Update(int site, Operation operation, long timestamp, int gap) implements Step {}

    /**
     * A replica receives one of the updates so far.
     *
     * @param event counted around
     */
    record Receive(int site, int event) implements Step {}
  }

  /** The steps of a history, in their order. */
  public record Plan(CrdtType type, List<Step> steps) {
    /**
     * Runs the plan with deliveries in causal order: an update that comes too early is not
     * received.
     */
    public History run() {
      return run(true);
    }

    /** Runs the plan with deliveries in any order. */
    public History runWithoutCausality() {
      return run(false);
    }

    private History run(boolean causal) {
      History history = new History(type);
      for (Step step : steps) {
        switch (step) {
          case Step.Update u -> history.sites.get(u.site).update(u);
          case Step.Receive r -> {
            if (!history.events.isEmpty()) {
              Event event = history.events.get(r.event % history.events.size());
              Site site = history.sites.get(r.site);
              if (causal) {
                site.receive(event);
              } else {
                site.state = site.state.join(event.delta);
              }
            }
          }
        }
      }
      return history;
    }
  }

  /**
   * One update.
   *
   * @param past the dots of all updates that its replica had received
   */
  public record Event(
      Dot dot, Operation operation, long timestamp, Set<Dot> past, CrdtState delta) {}

  /** One replica: its state and the updates it has received. */
  public final class Site {
    final ReplicaId id;
    public CrdtState state;
    public final Set<Dot> seen = new HashSet<>();
    public final List<Event> own = new ArrayList<>();
    private long number;

    Site(String name) {
      id = new ReplicaId(name, 1);
      state = CrdtState.bottom(type);
    }

    private void update(Step.Update update) {
      Operation operation = update.operation;
      if (state.store() instanceof BoundedCounter c
          && !c.isCreated()
          && !(operation instanceof Operation.Bound)) {
        return;
      }
      number += 1 + update.gap;
      CrdtState delta;
      try {
        delta =
            state.prepare(operation, id, number, state.context().through(id), update.timestamp, 0);
      } catch (OsierException e) {
        assertThat(e).hasMessageContaining("the string is not a"); // an increment of a text
        return;
      }
      checkAtOnce(operation, update.timestamp);
      number = delta.context().last(id);
      Dot dot = new Dot(id, number);
      Event event = new Event(dot, operation, update.timestamp, Set.copyOf(seen), delta);
      state = state.join(delta);
      seen.add(dot);
      own.add(event);
      events.add(event);
    }

    /**
     * Checks that an update that is joined while it is prepared gives the same as one that is
     * joined afterwards.
     */
    private void checkAtOnce(Operation operation, long timestamp) {
      long predecessor = state.context().through(id);
      CrdtState delta =
          Updates.prepareAt(
              state, 0, operation, new UpdateContext(id, number, predecessor, timestamp, 0));
      CrdtState after = state.join(delta);
      Updates.Updated both =
          Updates.updateAt(
              state, 0, operation, new UpdateContext(id, number, predecessor, timestamp, 0));
      assertThat(both).isEqualTo(new Updates.Updated(delta, after));
      assertThat(both.delta().heapBytes()).isEqualTo(delta.heapBytes());
      assertThat(both.after().heapBytes()).isEqualTo(after.heapBytes());
      assertThat(both.after().sizeBytes()).isEqualTo(after.sizeBytes());
    }

    /** Receives an update if everything that it builds on is here. */
    private boolean receive(Event event) {
      if (!seen.containsAll(event.past)) {
        return false;
      }
      state = state.join(event.delta);
      seen.add(event.dot);
      return true;
    }
  }

  /**
   * A part of a history that can be joined: consecutive updates of one replica as one, or its state
   * if there are none.
   *
   * @param from counted around
   */
  public record Pick(int site, int from, int count) {}

  final CrdtType type;
  public final List<Site> sites = new ArrayList<>();
  public final List<Event> events = new ArrayList<>();

  private History(CrdtType type) {
    this.type = type;
    for (String name : List.of("a", "b", "c")) {
      sites.add(new Site(name));
    }
  }

  /** Delivers everything everywhere, in an order that causality allows. */
  public void finish() {
    for (Site site : sites) {
      boolean more = true;
      while (more) {
        more = false;
        for (Event event : events) {
          more |= !site.seen.contains(event.dot) && site.receive(event);
        }
      }
    }
  }

  public CrdtState part(Pick pick) {
    Site site = sites.get(pick.site);
    if (pick.count == 0 || site.own.isEmpty()) {
      return site.state;
    }
    int from = pick.from % site.own.size();
    return joined(site.own.subList(from, Math.min(site.own.size(), from + pick.count)));
  }

  public static CrdtState joined(List<Event> events) {
    CrdtState joined = events.getFirst().delta();
    for (Event event : events.subList(1, events.size())) {
      joined = joined.join(event.delta());
    }
    return joined;
  }

  /**
   * Returns the items in another order.
   *
   * @param places the index of each among those before it, counted around; at their end by default
   */
  public static <T> List<T> ordered(List<T> items, List<Integer> places) {
    List<T> ordered = new ArrayList<>();
    for (T item : items) {
      int n = ordered.size();
      ordered.add(n < places.size() ? places.get(n) % (n + 1) : n, item);
    }
    return ordered;
  }

  // ---------------------------------------------------------------- what is drawn

  /** Plans for all types; small alphabets, so that conflicts happen. */
  public static final class Plans implements ArbitrarySupplier<Plan> {
    private static final int STEPS_MAX = 60;

    @Override
    public Arbitrary<Plan> get() {
      return plans(List.of(CrdtType.values()));
    }

    public static Arbitrary<Plan> plans(List<CrdtType> types) {
      return Arbitraries.of(types).flatMap(type -> steps(type).map(steps -> new Plan(type, steps)));
    }

    private static Arbitrary<List<Step>> steps(CrdtType type) {
      Arbitrary<Integer> sites = Arbitraries.integers().between(0, 2);
      Arbitrary<Step> updates =
          Combinators.combine(
                  sites,
                  DrawnOperations.operations(type, 0),
                  Arbitraries.longs().between(1, 3),
                  Arbitraries.integers().between(0, 2))
              .as(Step.Update::new);
      Arbitrary<Step> receptions =
          Combinators.combine(sites, evenly(0, STEPS_MAX)).as(Step.Receive::new);
      return Arbitraries.frequencyOf(Tuple.of(2, updates), Tuple.of(3, receptions))
          .list()
          .ofMaxSize(STEPS_MAX)
          .withSizeDistribution(RandomDistribution.uniform())
          .withoutEdgeCases();
    }
  }

  /** Groups and states of any replica. */
  public static final class Picks implements ArbitrarySupplier<Pick> {
    @Override
    public Arbitrary<Pick> get() {
      return Combinators.combine(evenly(0, 2), evenly(0, 20), evenly(0, 5)).as(Pick::new);
    }
  }

  private static Arbitrary<Integer> evenly(int min, int max) {
    return Arbitraries.integers().between(min, max).withDistribution(RandomDistribution.uniform());
  }
}
