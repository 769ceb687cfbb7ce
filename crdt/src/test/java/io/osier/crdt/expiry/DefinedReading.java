package io.osier.crdt.expiry;

import io.osier.core.Dot;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import java.math.BigDecimal;
import java.util.ArrayList;
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

/** Computes what a reader sees after a history by the definitions of the types. */
final class DefinedReading {
  private DefinedReading() {}

  /** An update of one leaf: a whole object, or a map's field. */
  record Step(Dot dot, int order, Operation operation, long timestamp, Set<Dot> past) {
    boolean saw(Step other) {
      return past.contains(other.dot) || (dot.equals(other.dot) && other.order < order);
    }
  }

  static Reading expected(CrdtType type, List<Step> steps) {
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

  /**
   * Returns the first value of a bounded counter: the largest of the creations that saw no other
   * one.
   */
  static long first(List<Step> steps) {
    List<Step> creations =
        steps.stream().filter(s -> s.operation instanceof Operation.Bound).toList();
    return creations.stream()
        .filter(s -> creations.stream().noneMatch(s::saw))
        .mapToLong(s -> ((Operation.Bound) s.operation).first())
        .max()
        .orElse(0);
  }

  static boolean isCleared(Step step, List<Step> steps) {
    return steps.stream().anyMatch(c -> c.operation instanceof Operation.Clear && c.saw(step));
  }

  static List<Step> maximal(List<Step> steps) {
    return steps.stream().filter(s -> steps.stream().noneMatch(o -> o.saw(s))).toList();
  }

  static boolean isFlag(Step step, boolean enabled) {
    return step.operation instanceof Operation.SetFlag f && f.enabled() == enabled;
  }

  static boolean isElement(CrdtType type, Value element, List<Step> all) {
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

  static boolean touches(Step step, Value element) {
    Collection<Value> elements =
        switch (step.operation) {
          case Operation.Add a -> a.elements();
          case Operation.Remove r -> r.elements();
          default -> List.of();
        };
    return elements.contains(element);
  }

  static boolean isLatest(List<Step> steps, List<Step> last, boolean addBias) {
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

  /** Returns the time of each step: its own, but not before that of any step which it replaced. */
  static Map<Step, Long> times(List<Step> steps) {
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

  static Optional<Value> latest(List<Step> steps) {
    return latestWrite(steps).map(s -> ((Operation.Assign) s.operation).value());
  }

  static Optional<Step> latestWrite(List<Step> steps) {
    Map<Step, Long> times = times(steps);
    return maximal(steps).stream()
        .filter(s -> !(s.operation instanceof Operation.Clear))
        .max(
            Comparator.comparingLong((Step s) -> times.getOrDefault(s, 0L))
                .thenComparing(s -> s.dot)
                .thenComparing(s -> s.order));
  }

  /**
   * Returns the winner of the assignments, with all additions that no assignment or clear has seen.
   */
  static Optional<Value> string(List<Step> steps) {
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

  /** Returns the amount that a step adds; empty if it assigns or clears. */
  static Optional<BigDecimal> added(Step step) {
    return switch (step.operation) {
      case Operation.Increment o -> Optional.of(BigDecimal.valueOf(o.amount()));
      case Operation.IncrementDecimal o -> Optional.of(o.amount());
      default -> Optional.empty();
    };
  }

  static String written(Step step, List<Step> steps) {
    return switch (step.operation) {
      case Operation.Assign o -> o.value().toString();
      case Operation.Append o ->
          string(steps.stream().filter(step::saw).toList()).map(Value::toString).orElse("")
              + o.value();
      default -> throw new IllegalStateException("writes nothing: " + step);
    };
  }

  static final Comparator<Value> ORDER = Comparator.naturalOrder();

  /**
   * Each assignment makes the register the winner of its value and the values that it had seen.
   * Returns the winner of those that no other assignment and no clear has seen.
   */
  static Optional<Value> extreme(List<Step> steps, BinaryOperator<Value> wins) {
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

  static SortedMap<FieldId, Reading> fields(List<Step> steps) {
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

  static void addField(FieldId field, Step step, List<Step> own) {
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

  static Step with(Step step, Operation operation, int order) {
    return new Step(step.dot, order, operation, step.timestamp, step.past);
  }

  static boolean isPresent(List<Step> steps, Reading reading) {
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
