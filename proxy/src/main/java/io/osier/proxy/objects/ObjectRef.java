package io.osier.proxy.objects;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.types.TypeRegistry;
import io.osier.protocol.Request;
import io.osier.proxy.values.Values;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** The object that a handle stands for, or the map field, at any depth. Thread-safe. */
public abstract sealed class ObjectRef {
  public abstract CompletableFuture<Void> update(Operation operation);

  /**
   * Updates the object, and queries it in the same step.
   *
   * @param result converts the reading
   */
  public abstract <T> CompletableFuture<T> update(
      Operation operation, Request.Ask ask, Function<Reading, T> result);

  /**
   * Updates the object if it reads as expected.
   *
   * @return completes with whether it did
   */
  public final CompletableFuture<Boolean> updateIf(Reading expected, Operation operation) {
    return updateIf(List.of(), new Query.Whole(), expected, operation);
  }

  /**
   * Updates the object if a query of a field, at the end of a path of fields, reads as expected.
   */
  public abstract CompletableFuture<Boolean> updateIf(
      List<FieldId> path, Query query, Reading expected, Operation operation);

  /**
   * Returns this object with updates that also give each added element or updated field a deadline.
   */
  public final ObjectRef withPartDeadlines(Operation.Expire deadline) {
    return new PartsExpiring(this, deadline);
  }

  /** Gives a deadline to those of the elements or fields that exist. */
  public final CompletableFuture<Void> expireParts(List<Part> parts, Operation.Expire deadline) {
    return update(new Operation.ExpireParts(parts, deadline));
  }

  /**
   * Returns how long an element or field lives on; empty if it has no deadline, or does not exist.
   */
  public final CompletableFuture<Optional<Duration>> timeToLive(Part part) {
    return read(
        new Query.PartTimeToLive(part),
        reading ->
            Optional.of(((Reading.Count) reading).value())
                .filter(millis -> millis >= 0)
                .map(Duration::ofMillis));
  }

  /** Returns the reading of an object that does not exist. */
  public final Reading none() {
    return TypeRegistry.empty(type()).read(new Query.Whole());
  }

  /** Reads the object; an absent one reads as a new one of its type. */
  public abstract <T> CompletableFuture<T> read(Query query, Function<Reading, T> result);

  public abstract CrdtType type();

  /** Returns the client's encoding of objects. */
  public abstract Values values();

  public final ObjectRef field(String name, CrdtType type) {
    return new OfField(this, new FieldId(name, type));
  }

  public static final class OfObject extends ObjectRef {
    private final ObjectAccess objects;
    private final Key key;
    private final CrdtType type;
    private final Optional<CrdtType> typed;

    public OfObject(ObjectAccess objects, Key key, CrdtType type) {
      this.objects = objects;
      this.typed = Optional.of(type);
      this.key = key;
      this.type = type;
    }

    @Override
    public CompletableFuture<Void> update(Operation operation) {
      return objects.update(key, type, operation);
    }

    @Override
    public <T> CompletableFuture<T> update(
        Operation operation, Request.Ask ask, Function<Reading, T> result) {
      return objects.update(
          key, type, operation, ask, found -> result.apply(found.reading().orElseThrow()));
    }

    @Override
    public CompletableFuture<Boolean> updateIf(
        List<FieldId> path, Query query, Reading expected, Operation operation) {
      return objects.updateIf(key, type, operation, new Request.Condition(path, query, expected));
    }

    @Override
    public <T> CompletableFuture<T> read(Query query, Function<Reading, T> result) {
      return objects.read(key, typed, query, found -> result.apply(found.reading().orElseThrow()));
    }

    @Override
    public CrdtType type() {
      return type;
    }

    @Override
    public Values values() {
      return objects.values();
    }
  }

  /** An object whose updates also give each added element or updated field a deadline. */
  private static final class PartsExpiring extends ObjectRef {
    private final ObjectRef object;
    private final Operation.Expire deadline;

    PartsExpiring(ObjectRef object, Operation.Expire deadline) {
      this.object = object;
      this.deadline = deadline;
    }

    private Operation with(Operation update) {
      return update instanceof Operation.Add || update instanceof Operation.UpdateFields
          ? new Operation.WithPartDeadlines(update, deadline)
          : update;
    }

    @Override
    public CompletableFuture<Void> update(Operation operation) {
      return object.update(with(operation));
    }

    @Override
    public <T> CompletableFuture<T> update(
        Operation operation, Request.Ask ask, Function<Reading, T> result) {
      return object.update(with(operation), ask, result);
    }

    @Override
    public CompletableFuture<Boolean> updateIf(
        List<FieldId> path, Query query, Reading expected, Operation operation) {
      return object.updateIf(path, query, expected, with(operation));
    }

    @Override
    public <T> CompletableFuture<T> read(Query query, Function<Reading, T> result) {
      return object.read(query, result);
    }

    @Override
    public CrdtType type() {
      return object.type();
    }

    @Override
    public Values values() {
      return object.values();
    }
  }

  /** A field of a map: its updates are updates of the map around it. */
  static final class OfField extends ObjectRef {
    private final ObjectRef map;
    private final FieldId field;

    OfField(ObjectRef map, FieldId field) {
      this.map = map;
      this.field = field;
    }

    @Override
    public CompletableFuture<Void> update(Operation operation) {
      return map.update(within(operation));
    }

    private Operation within(Operation operation) {
      return new Operation.UpdateFields(field, operation);
    }

    @Override
    public <T> CompletableFuture<T> update(
        Operation operation, Request.Ask ask, Function<Reading, T> result) {
      return map.update(
          within(operation),
          new Request.Ask(ask.before(), select()),
          reading -> result.apply(answerOfMap(reading, ask.query())));
    }

    @Override
    public CompletableFuture<Boolean> updateIf(
        List<FieldId> path, Query query, Reading expected, Operation operation) {
      List<FieldId> longer = new ArrayList<>(List.of(field));
      longer.addAll(path);
      return map.updateIf(longer, query, expected, within(operation));
    }

    @Override
    public <T> CompletableFuture<T> read(Query query, Function<Reading, T> result) {
      return map.read(select(), reading -> result.apply(answerOfMap(reading, query)));
    }

    private Query select() {
      return new Query.Select(List.of(field.name()));
    }

    private Reading answerOfMap(Reading reading, Query query) {
      Reading value = ((Reading.Fields) reading).fields().get(field);
      return answer(value == null ? none() : value, query);
    }

    private static Reading answer(Reading whole, Query query) {
      return switch (query) {
        case Query.Whole q -> whole;
        case Query.Contains q -> new Reading.Flag(many(whole).contains(q.element()));
        case Query.Among q -> new Reading.Many(q.present(new TreeSet<>(many(whole))::contains));
        case Query.Range q -> range(whole, q);
        case Query.Size q ->
            new Reading.Count(
                whole instanceof Reading.Fields f ? f.fields().size() : many(whole).size());
        case Query.Exists q ->
            throw OsierException.of(
                ErrorCode.INVALID_ARGUMENT,
                "a field's handle cannot say whether the field exists: ask the map that holds it");
        case Query.TimeToLive q -> throw noTimeToLive();
        case Query.PartTimeToLive q -> throw noTimeToLive();
        case Query.UntilExpiry q -> throw noTimeToLive();
        case Query.Deadline q -> throw noTimeToLive();
        case Query.Rights q ->
            throw OsierException.of(ErrorCode.WRONG_TYPE, "a field is no bounded counter");
        case Query.Select q -> {
          Reading.Fields fields = (Reading.Fields) whole;
          TreeMap<FieldId, Reading> selected = new TreeMap<>(fields.fields());
          selected.keySet().removeIf(f -> !q.names().contains(f.name()));
          yield new Reading.Fields(selected);
        }
      };
    }

    private static Reading range(Reading whole, Query.Range range) {
      if (whole instanceof Reading.Fields f) {
        TreeMap<FieldId, Reading> fields = new TreeMap<>(f.fields());
        List<FieldId> within =
            within(range, List.copyOf(fields.keySet()), FieldId::name, OfField::name);
        fields.keySet().retainAll(within);
        return new Reading.Fields(fields);
      }
      return new Reading.Many(within(range, many(whole), element -> element, OfField::element));
    }

    private static String name(Part part) {
      if (part instanceof Part.Field field) {
        return field.name();
      }
      throw OsierException.of(ErrorCode.WRONG_TYPE, "a map has fields, not elements");
    }

    private static Value element(Part part) {
      if (part instanceof Part.Element element) {
        return element.value();
      }
      throw OsierException.of(ErrorCode.WRONG_TYPE, "a set has elements, not fields");
    }

    /** Returns the part of a list that is in a range, as the datacenter does for an object. */
    private static <T, C extends Comparable<C>> List<T> within(
        Query.Range range, List<T> inOrder, Function<T, C> at, Function<Part, C> end) {
      List<T> found = new ArrayList<>();
      C last = null;
      for (T each : range.descending() ? inOrder.reversed() : inOrder) {
        C place = at.apply(each);
        boolean isWithin =
            range.from().map(b -> isAt(end.apply(b.part()).compareTo(place), b)).orElse(true)
                && range.to().map(b -> isAt(place.compareTo(end.apply(b.part())), b)).orElse(true);
        if (isWithin && (found.size() < range.limit() || place.equals(last))) {
          found.add(each);
          last = place;
        }
      }
      return range.descending() ? found.reversed() : found;
    }

    private static boolean isAt(int order, Query.Bound bound) {
      return order < 0 || (order == 0 && bound.inclusive());
    }

    private static OsierException noTimeToLive() {
      return OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "a time to live is a key's, or that of an element or field of its object, not of what is"
              + " nested deeper");
    }

    private static List<Value> many(Reading whole) {
      if (whole instanceof Reading.Many m) {
        return m.values();
      }
      throw OsierException.of(ErrorCode.WRONG_TYPE, "the field is no set");
    }

    @Override
    public CrdtType type() {
      return field.type();
    }

    @Override
    public Values values() {
      return map.values();
    }
  }
}
