package io.osier.crdt.expiry;

import static io.osier.crdt.expiry.DefinedReading.expected;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.expiry.DefinedReading.Step;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.types.EntryStore;
import io.osier.crdt.types.History;
import io.osier.crdt.types.History.Event;
import io.osier.crdt.types.History.Plan;
import io.osier.crdt.types.History.Plans;
import io.osier.crdt.types.History.Site;
import io.osier.crdt.types.TypeRegistry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ArbitrarySupplier;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * The meaning of each type under concurrency, computed from the history by its definition: an
 * update takes effect on the updates that it had seen, and the type's rule decides among those that
 * did not see each other.
 */
final class SemanticsProperties {
  @Property(tries = 4_000)
  void reading_isWhatTheHistoryDefines(@ForAll(supplier = Plans.class) Plan plan) {
    History history = plan.run();
    for (Site site : history.sites) {
      List<Event> received =
          history.events.stream().filter(e -> site.seen.contains(e.dot())).toList();
      List<Step> steps = new ArrayList<>();
      received.stream()
          .filter(e -> !isOfDeadline(e.operation())) // it changes nothing of the content
          .forEach(e -> steps.add(new Step(e.dot(), 0, content(e), e.timestamp(), e.past())));
      assertThat(site.state.read(new Query.Whole())).isEqualTo(expected(plan.type(), steps));
    }
  }

  private static Operation content(Event event) {
    return switch (event.operation()) {
      case Operation.WithDeadline both -> both.update();
      case Operation.WithPartDeadlines both -> both.update();
      default -> event.operation();
    };
  }

  /** Returns the deadline that an update gives; empty if it gives none. */
  private static Optional<Long> deadline(Event event, History history, CrdtType type) {
    return switch (event.operation()) {
      case Operation.Expire o -> Optional.of(o.millis());
      case Operation.Persist o -> Optional.of(CrdtState.NEVER);
      case Operation.WithDeadline o ->
          behind(event, history, type).isBottom()
              ? Optional.empty() // an object that is left empty has none
              : Optional.of(o.deadline().millis());
      default -> Optional.empty();
    };
  }

  /** Returns the state at an update's replica, with the update. */
  private static CrdtState behind(Event event, History history, CrdtType type) {
    CrdtState then = CrdtState.bottom(type);
    for (Event e : history.events) {
      then = event.past().contains(e.dot()) || e == event ? then.join(e.delta()) : then;
    }
    return then;
  }

  private static boolean isOfDeadline(Operation operation) {
    return operation instanceof Operation.Expire
        || operation instanceof Operation.Persist
        || operation instanceof Operation.ExpireParts
        || operation instanceof Operation.PersistParts;
  }

  /**
   * Of the deadlines that no later one replaced, and that were not removed with the content, the
   * latest counts.
   */
  @Property(tries = 2_000)
  void deadline_isWhatTheHistoryDefines(@ForAll(supplier = Plans.class) Plan plan) {
    History history = plan.run();
    for (Site site : history.sites) {
      List<Event> received =
          history.events.stream().filter(e -> site.seen.contains(e.dot())).toList();
      Optional<Long> expected =
          received.stream()
              .filter(e -> received.stream().noneMatch(l -> endsIt(l, e, history, plan.type())))
              .flatMap(e -> deadline(e, history, plan.type()).stream())
              .max(Comparator.naturalOrder());
      assertThat(site.state.expiry().whole().isNone()).isEqualTo(expected.isEmpty());
      assertThat(site.state.deadline()).isEqualTo(expected.orElse(CrdtState.NEVER));
    }
  }

  private static boolean endsIt(Event later, Event deadline, History history, CrdtType type) {
    if (!later.past().contains(deadline.dot())) {
      return false;
    }
    return deadline(later, history, type).isPresent()
        || content(later) instanceof Operation.Clear
        || (!isOfDeadline(later.operation()) && behind(later, history, type).isBottom());
  }

  /** As above, for each part. */
  @Property(tries = 4_000)
  void deadlineOfAPart_isWhatTheHistoryDefines(@ForAll(supplier = PartPlans.class) Plan plan) {
    History history = plan.run();
    for (Site site : history.sites) {
      List<Event> received =
          history.events.stream().filter(e -> site.seen.contains(e.dot())).toList();
      SortedMap<Object, Long> expected = new TreeMap<>();
      for (Object part : plan.type() == CrdtType.OR_MAP ? FIELDS : ELEMENTS) {
        received.stream()
            .filter(e -> received.stream().noneMatch(l -> endsIt(l, e, part, history, plan.type())))
            .flatMap(e -> deadline(e, part, history, plan.type()).stream())
            .max(Comparator.naturalOrder())
            .ifPresent(deadline -> expected.put(part, deadline));
      }
      assertThat(latest(site.state.expiry().parts())).isEqualTo(expected);
      long now = 2;
      assertThat(site.state.at(now).read(new Query.Whole()))
          .isEqualTo(without(site.state, expected, now));
      long first = Long.MAX_VALUE;
      for (Map.Entry<Object, Long> part : expected.entrySet()) {
        boolean there = isThere(site.state, part.getKey());
        first = Math.min(first, there ? part.getValue() : 0);
      }
      if (!site.state.isBottom()) {
        assertThat(site.state.overAt()).isEqualTo(Math.min(first, site.state.deadline()));
      }
    }
  }

  private static <K extends Comparable<K>> SortedMap<Object, Long> latest(PartDeadlines<K> of) {
    SortedMap<Object, Long> latest = new TreeMap<>();
    of.parts().forEach(part -> latest.put(part, of.deadline(part)));
    return latest;
  }

  static final class PartPlans implements ArbitrarySupplier<Plan> {
    @Override
    public Arbitrary<Plan> get() {
      return Plans.plans(
          Arrays.stream(CrdtType.values())
              .filter(t -> TypeRegistry.empty(t) instanceof EntryStore)
              .toList());
    }
  }

  private static final List<?> ELEMENTS = List.of(Value.of("x"), Value.of("y"));

  private static final List<?> FIELDS =
      Stream.of("f", "g")
          .flatMap(n -> Arrays.stream(CrdtType.values()).map(t -> new FieldId(n, t)))
          .toList();

  private static boolean isThere(CrdtState state, Object part) {
    return part instanceof Value element
        ? ((Reading.Flag) state.read(new Query.Contains(element))).value()
        : ((Reading.Fields) state.read(new Query.Whole())).fields().containsKey(part);
  }

  /** Returns the reading without expired parts. */
  private static Reading without(CrdtState state, Map<Object, Long> deadlines, long now) {
    if (state.deadline() <= now) {
      return TypeRegistry.empty(state.type()).read(new Query.Whole());
    }
    return switch (state.read(new Query.Whole())) {
      case Reading.Many m ->
          new Reading.Many(
              m.values().stream()
                  .filter(v -> deadlines.getOrDefault(v, CrdtState.NEVER) > now)
                  .toList());
      case Reading.Fields f -> {
        SortedMap<FieldId, Reading> left = new TreeMap<>(f.fields());
        left.keySet().removeIf(field -> deadlines.getOrDefault(field, CrdtState.NEVER) <= now);
        yield new Reading.Fields(left);
      }
      default -> throw new IllegalStateException("no parts");
    };
  }

  /** Returns the deadline that an update gives a part; empty if it gives none. */
  private static Optional<Long> deadline(Event event, Object part, History history, CrdtType type) {
    return switch (event.operation()) {
      case Operation.ExpireParts o ->
          isNamed(part, o.of()) && isThere(behind(event, history, type), part)
              ? Optional.of(o.deadline().millis())
              : Optional.empty();
      case Operation.PersistParts o -> {
        // It changes nothing if there is no deadline to remove.
        CrdtState then = behind(event, history, type);
        boolean had = had(event, part, history, type);
        yield isNamed(part, o.of()) && isThere(then, part) && had
            ? Optional.of(CrdtState.NEVER)
            : Optional.empty();
      }
      case Operation.WithPartDeadlines o ->
          isTouched(part, o.update()) && isThere(behind(event, history, type), part)
              ? Optional.of(o.deadline().millis())
              : Optional.empty();
      default -> Optional.empty();
    };
  }

  /** Whether a part had a deadline before an update, among the updates that it had seen. */
  private static boolean had(Event event, Object part, History history, CrdtType type) {
    List<Event> past = history.events.stream().filter(e -> event.past().contains(e.dot())).toList();
    return past.stream()
            .filter(e -> past.stream().noneMatch(l -> endsIt(l, e, part, history, type)))
            .flatMap(e -> deadline(e, part, history, type).stream())
            .max(Comparator.naturalOrder())
            .orElse(CrdtState.NEVER)
        != CrdtState.NEVER;
  }

  private static boolean isNamed(Object part, List<Part> parts) {
    return parts.stream()
        .anyMatch(
            p ->
                switch (p) {
                  case Part.Element e -> e.value().equals(part);
                  case Part.Field f -> part instanceof FieldId id && id.name().equals(f.name());
                });
  }

  private static boolean isTouched(Object part, Operation operation) {
    return switch (operation) {
      case Operation.Add o -> o.elements().contains(part);
      case Operation.Remove o -> o.elements().contains(part);
      case Operation.UpdateFields o -> o.updates().stream().anyMatch(u -> u.field().equals(part));
      case Operation.RemoveFields o -> part instanceof FieldId id && o.names().contains(id.name());
      default -> false;
    };
  }

  private static boolean endsIt(
      Event later, Event deadline, Object part, History history, CrdtType type) {
    if (!later.past().contains(deadline.dot())) {
      return false;
    }
    CrdtState behind = behind(later, history, type);
    return deadline(later, part, history, type).isPresent()
        || content(later) instanceof Operation.Clear
        || (isTouched(part, content(later)) && !isThere(behind, part))
        || (!isOfDeadline(later.operation()) && behind.isBottom());
  }
}
