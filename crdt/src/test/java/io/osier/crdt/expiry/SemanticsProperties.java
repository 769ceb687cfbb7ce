package io.osier.crdt.expiry;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.types.EntryStore;
import io.osier.crdt.types.History;
import io.osier.crdt.types.History.Event;
import io.osier.crdt.types.History.Plan;
import io.osier.crdt.types.History.Plans;
import io.osier.crdt.types.History.Site;
import io.osier.crdt.types.TypeRegistry;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BinaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ArbitrarySupplier;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * What each type means under concurrency, computed from the history by its definition: an update
 * takes effect on what it had seen, and the type's rule decides among those that did not see each
 * other.
 */
final class SemanticsProperties {
  /** An update of one leaf: a whole object, or a map's field. */
  private record Step(Dot dot, int order, Operation operation, long timestamp, Set<Dot> past) {
    boolean saw(Step other) {
      return past.contains(other.dot) || (dot.equals(other.dot) && other.order < order);
    }
  }

  @Property(tries = 4_000)
  void reading_isWhatTheHistoryDefines(@ForAll(supplier = Plans.class) Plan plan) {
    History history = plan.run();
    for (Site site : history.sites) {
      List<Event> received =
          history.events.stream().filter(e -> site.seen.contains(e.dot())).toList();
      List<Step> steps = new ArrayList<>();
      received.stream()
          .filter(e -> !isOfDeadline(e.operation())) // which changes nothing of the content
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

  /** The deadline that an update gives; empty if it gives none. */
  private static Optional<Long> deadline(Event event, History history, CrdtType type) {
    return switch (event.operation()) {
      case Operation.Expire o -> Optional.of(o.millis());
      case Operation.Persist o -> Optional.of(CrdtState.NEVER);
      case Operation.WithDeadline o ->
          behind(event, history, type).isBottom()
              ? Optional.empty() // what is left empty has none
              : Optional.of(o.deadline().millis());
      default -> Optional.empty();
    };
  }

  /** What there was where an update was made, with it. */
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
   * Of the deadlines that no later one replaced, and that went with no content, the latest counts.
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

  /** The same of each part by itself. */
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

  /** Plans of what has parts. */
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

  /** What a reader sees who leaves out what has expired. */
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

  /** The deadline that an update gives a part; empty if it gives none. */
  private static Optional<Long> deadline(Event event, Object part, History history, CrdtType type) {
    return switch (event.operation()) {
      case Operation.ExpireParts o ->
          isNamed(part, o.of()) && isThere(behind(event, history, type), part)
              ? Optional.of(o.deadline().millis())
              : Optional.empty();
      case Operation.PersistParts o -> {
        // It changes nothing where there is nothing to persist.
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

  /** Whether a part had a deadline that ends where an update was made. */
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

  private static Reading expected(CrdtType type, List<Step> steps) {
    return switch (type) {
      case PN_COUNTER, G_COUNTER ->
          new Reading.Count(
              steps.stream()
                  .filter(s -> s.operation instanceof Operation.Increment)
                  .filter(s -> !isCleared(s, steps))
                  .mapToLong(s -> ((Operation.Increment) s.operation).amount())
                  .sum());
      case LWW_REGISTER -> new Reading.Single(latest(steps));
      case MV_REGISTER ->
          new Reading.Many(
              List.copyOf(
                  maximal(steps).stream()
                      .filter(s -> s.operation instanceof Operation.Assign)
                      .map(s -> ((Operation.Assign) s.operation).value())
                      .collect(Collectors.toCollection(TreeSet::new))));
      case EW_FLAG -> new Reading.Flag(maximal(steps).stream().anyMatch(s -> isFlag(s, true)));
      case DW_FLAG ->
          new Reading.Flag(
              maximal(steps).stream().anyMatch(s -> isFlag(s, true))
                  && maximal(steps).stream().noneMatch(s -> isFlag(s, false)));
      case G_SET, AW_SET, RW_SET, LWW_SET_ADD_BIAS, LWW_SET_REMOVE_BIAS -> {
        TreeSet<Value> elements = new TreeSet<>();
        for (Value element : List.of(Value.of("x"), Value.of("y"))) {
          if (isElement(type, element, steps)) {
            elements.add(element);
          }
        }
        yield new Reading.Many(List.copyOf(elements));
      }
      case STRING -> new Reading.Single(string(steps));
      case MIN_REGISTER -> new Reading.Single(extreme(steps, BinaryOperator.minBy(ORDER)));
      case MAX_REGISTER -> new Reading.Single(extreme(steps, BinaryOperator.maxBy(ORDER)));
      case OR_MAP -> new Reading.Fields(fields(steps));
      case BOUNDED_COUNTER ->
          new Reading.Count(
              first(steps)
                  + steps.stream()
                      .filter(s -> s.operation instanceof Operation.Increment)
                      .mapToLong(s -> ((Operation.Increment) s.operation).amount())
                      .sum());
    };
  }

  /** What a bounded counter starts at: the largest of creations that saw no other one. */
  private static long first(List<Step> steps) {
    List<Step> creations =
        steps.stream().filter(s -> s.operation instanceof Operation.Bound).toList();
    return creations.stream()
        .filter(s -> creations.stream().noneMatch(s::saw))
        .mapToLong(s -> ((Operation.Bound) s.operation).first())
        .max()
        .orElse(0);
  }

  private static boolean isCleared(Step step, List<Step> steps) {
    return steps.stream().anyMatch(c -> c.operation instanceof Operation.Clear && c.saw(step));
  }

  /** Those that no other one has seen. */
  private static List<Step> maximal(List<Step> steps) {
    return steps.stream().filter(s -> steps.stream().noneMatch(o -> o.saw(s))).toList();
  }

  private static boolean isFlag(Step step, boolean enabled) {
    return step.operation instanceof Operation.SetFlag f && f.enabled() == enabled;
  }

  private static boolean isElement(CrdtType type, Value element, List<Step> all) {
    List<Step> steps =
        all.stream()
            .filter(s -> s.operation instanceof Operation.Clear || touches(s, element))
            .toList();
    List<Step> last = maximal(steps);
    boolean added = last.stream().anyMatch(s -> s.operation instanceof Operation.Add);
    boolean removed = last.stream().anyMatch(s -> s.operation instanceof Operation.Remove);
    return switch (type) {
      case G_SET, AW_SET -> added;
      case RW_SET -> added && !removed;
      case LWW_SET_ADD_BIAS -> isLatest(steps, last, true);
      default -> isLatest(steps, last, false);
    };
  }

  private static boolean touches(Step step, Value element) {
    Collection<Value> elements =
        switch (step.operation) {
          case Operation.Add a -> a.elements();
          case Operation.Remove r -> r.elements();
          default -> List.of();
        };
    return elements.contains(element);
  }

  private static boolean isLatest(List<Step> steps, List<Step> last, boolean addBias) {
    Map<Step, Long> times = times(steps);
    long max =
        last.stream()
            .filter(s -> !(s.operation instanceof Operation.Clear))
            .mapToLong(times::get)
            .max()
            .orElse(-1);
    Set<Boolean> winners =
        last.stream()
            .filter(
                s -> !(s.operation instanceof Operation.Clear) && times.getOrDefault(s, 0L) == max)
            .map(s -> s.operation instanceof Operation.Add)
            .collect(Collectors.toSet());
    return winners.size() == 2 ? addBias : winners.contains(true);
  }

  /** The time of each step: its own, but not before anything that it replaced. */
  private static Map<Step, Long> times(List<Step> steps) {
    Map<Step, Long> times = new HashMap<>();
    for (Step step : steps) { // causal order: events come after what they saw
      List<Step> seen = steps.stream().filter(step::saw).toList();
      long time = step.timestamp;
      for (Step replaced : maximal(seen)) {
        if (!(replaced.operation instanceof Operation.Clear)) {
          time = Math.max(time, times.getOrDefault(replaced, 0L));
        }
      }
      times.put(step, time);
    }
    return times;
  }

  private static Optional<Value> latest(List<Step> steps) {
    return latestWrite(steps).map(s -> ((Operation.Assign) s.operation).value());
  }

  private static Optional<Step> latestWrite(List<Step> steps) {
    Map<Step, Long> times = times(steps);
    return maximal(steps).stream()
        .filter(s -> !(s.operation instanceof Operation.Clear))
        .max(
            Comparator.comparingLong((Step s) -> times.getOrDefault(s, 0L))
                .thenComparing(s -> s.dot)
                .thenComparing(s -> s.order));
  }

  /**
   * What wins of what was assigned, with all that was added and no assignment or clear has seen.
   */
  private static Optional<Value> string(List<Step> steps) {
    List<Step> writes = steps.stream().filter(s -> added(s).isEmpty()).toList();
    Optional<String> text = latestWrite(writes).map(w -> written(w, steps));
    List<BigDecimal> counting =
        steps.stream()
            .filter(s -> writes.stream().noneMatch(w -> w.saw(s)))
            .flatMap(s -> added(s).stream())
            .toList();
    if (!counting.isEmpty() && text.orElse("0").matches("-?[0-9]+(\\.[0-9]+)?")) {
      BigDecimal sum = new BigDecimal(text.orElse("0"));
      for (BigDecimal amount : counting) {
        sum = sum.add(amount);
      }
      sum = sum.signum() == 0 ? BigDecimal.ZERO : sum.stripTrailingZeros();
      return Optional.of(Value.of(sum.toPlainString()));
    }
    return text.map(Value::of);
  }

  /** What a step adds; empty if it assigns or clears. */
  private static Optional<BigDecimal> added(Step step) {
    return switch (step.operation) {
      case Operation.Increment o -> Optional.of(BigDecimal.valueOf(o.amount()));
      case Operation.IncrementDecimal o -> Optional.of(o.amount());
      default -> Optional.empty();
    };
  }

  private static String written(Step step, List<Step> steps) {
    return switch (step.operation) {
      case Operation.Assign o -> o.value().toString();
      case Operation.Append o ->
          string(steps.stream().filter(step::saw).toList()).map(Value::toString).orElse("")
              + o.value();
      default -> throw new IllegalStateException("writes nothing: " + step);
    };
  }

  private static final Comparator<Value> ORDER = Comparator.naturalOrder();

  /**
   * Each assignment makes the register what wins of its value and what it had seen; of those that
   * no other one has seen and no clear, what wins.
   */
  private static Optional<Value> extreme(List<Step> steps, BinaryOperator<Value> wins) {
    Map<Step, Value> made = new HashMap<>();
    for (Step step : steps) { // causal order
      if (step.operation instanceof Operation.Assign assign) {
        List<Step> seen = steps.stream().filter(step::saw).toList();
        made.put(
            step,
            maximal(seen).stream()
                .flatMap(s -> Stream.ofNullable(made.get(s)))
                .reduce(assign.value(), wins));
      }
    }
    return maximal(steps).stream().flatMap(s -> Stream.ofNullable(made.get(s))).reduce(wins);
  }

  private static SortedMap<FieldId, Reading> fields(List<Step> steps) {
    Map<FieldId, List<Step>> byField = new TreeMap<>();
    for (Step step : steps) {
      if (step.operation instanceof Operation.UpdateFields u) {
        u.updates().forEach(f -> byField.put(f.field(), new ArrayList<>()));
      }
    }
    SortedMap<FieldId, Reading> fields = new TreeMap<>();
    byField.forEach(
        (field, own) -> {
          for (Step step : steps) {
            addField(field, step, own);
          }
          Reading reading = expected(field.type(), own);
          if (isPresent(own, reading)) {
            fields.put(field, reading);
          }
        });
    return fields;
  }

  private static void addField(FieldId field, Step step, List<Step> own) {
    switch (step.operation) {
      case Operation.Clear c -> own.add(with(step, step.operation, step.order * 100));
      case Operation.RemoveFields r -> {
        if (r.names().contains(field.name())) {
          own.add(with(step, new Operation.Clear(), step.order * 100));
        }
      }
      case Operation.UpdateFields u -> {
        int order = 0;
        for (Operation.FieldUpdate update : u.updates()) {
          if (update.field().equals(field)) {
            own.add(with(step, update.operation(), step.order * 100 + ++order));
          }
        }
      }
      default -> throw new IllegalStateException("not a map's operation: " + step);
    }
  }

  private static Step with(Step step, Operation operation, int order) {
    return new Step(step.dot, order, operation, step.timestamp, step.past);
  }

  private static boolean isPresent(List<Step> steps, Reading reading) {
    return switch (reading) {
      case Reading.Count c ->
          steps.stream()
              .anyMatch(s -> s.operation instanceof Operation.Increment && !isCleared(s, steps));
      case Reading.Flag f -> f.value();
      case Reading.Single s -> s.value().isPresent();
      case Reading.Many m -> !m.values().isEmpty();
      case Reading.Fields f -> !f.fields().isEmpty();
      case Reading.Rights r -> throw new IllegalArgumentException("no field");
    };
  }
}
