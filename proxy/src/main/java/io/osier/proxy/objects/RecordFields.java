package io.osier.proxy.objects;

import static io.osier.core.Present.present;
import static java.util.Objects.requireNonNull;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.proxy.FieldType;
import io.osier.proxy.values.Members;
import io.osier.proxy.values.Values;
import java.lang.reflect.Array;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Maps a record's components to a map's fields, and converts both ways. Immutable. */
public final class RecordFields<R extends Record> {
  private abstract static class Component {
    final String name;
    final FieldId field;

    Component(String name, CrdtType type) {
      this.name = name;
      this.field = new FieldId(name, type);
    }

    /**
     * Returns the component's value.
     *
     * @param reading the field's reading; null if the field does not exist
     */
    abstract @Nullable Object read(@Nullable Reading reading);

    /** Returns the operations that turn one value into the other; the values differ. */
    abstract List<Operation> change(@Nullable Object before, @Nullable Object after);

    OsierException wrong(String what) {
      return OsierException.of(ErrorCode.INVALID_ARGUMENT, "component " + name + " " + what);
    }
  }

  private static final Set<CrdtType> COUNTERS = Set.of(CrdtType.PN_COUNTER, CrdtType.G_COUNTER);
  private static final Set<CrdtType> FLAGS = Set.of(CrdtType.EW_FLAG, CrdtType.DW_FLAG);

  private final Members<R> members;
  private final List<Component> components;
  private final List<String> names;

  private RecordFields(Members<R> members, List<Component> components) {
    this.members = members;
    this.components = components;
    this.names = components.stream().map(c -> c.name).toList();
  }

  /**
   * Finds the fields of a record class.
   *
   * @throws OsierException INVALID_ARGUMENT if a component cannot be a field; the message says why
   */
  public static <R extends Record> RecordFields<R> of(Class<R> type, Values values) {
    Members<R> members = Members.of(present(type, "a record's class"));
    List<Component> components = new ArrayList<>();
    for (RecordComponent component : requireNonNull(type.getRecordComponents(), "it is a record")) {
      components.add(component(component, values));
    }
    if (components.isEmpty()) {
      throw OsierException.of(ErrorCode.INVALID_ARGUMENT, type.getName() + " has no components");
    }
    return new RecordFields<>(members, List.copyOf(components));
  }

  private static Component component(RecordComponent of, Values values) {
    FieldType declared = of.getAnnotation(FieldType.class);
    Class<?> type = of.getType();
    CrdtType as = declared == null ? usual(type) : declared.value();
    String name = of.getName();
    if (COUNTERS.contains(as) && type == long.class) {
      return new Counter(name, as);
    }
    if (FLAGS.contains(as) && type == boolean.class) {
      return new Flag(name, as);
    }
    if (as.isSet() && type == Set.class) {
      return new Elements<>(name, as, new CheckedCodec<>(values.codec(argument(of))));
    }
    if (as == CrdtType.MV_REGISTER && type == List.class) {
      return new Several<>(name, new CheckedCodec<>(values.codec(argument(of))));
    }
    if (as == CrdtType.LWW_REGISTER) {
      return type == Optional.class
          ? new One<>(name, new CheckedCodec<>(values.codec(argument(of))), true, null)
          : one(name, type, values);
    }
    throw OsierException.of(
        ErrorCode.INVALID_ARGUMENT,
        ("component %s of %s is a %s, which cannot be a %s: counters are long, flags"
                + " boolean, sets Set, multi-value registers List")
            .formatted(name, of.getDeclaringRecord().getName(), type.getSimpleName(), as));
  }

  private static <T> Component one(String name, Class<T> type, Values values) {
    Object zero = type.isPrimitive() ? Array.get(Array.newInstance(type, 1), 0) : null;
    return new One<>(name, new CheckedCodec<>(values.codec(type)), false, zero);
  }

  private static CrdtType usual(Class<?> type) {
    if (type == boolean.class) {
      return CrdtType.EW_FLAG;
    }
    return type == Set.class ? CrdtType.AW_SET : CrdtType.LWW_REGISTER;
  }

  /** Returns the class that is the component's type argument. */
  private static Class<?> argument(RecordComponent of) {
    if (of.getGenericType() instanceof ParameterizedType p) {
      Type argument = p.getActualTypeArguments()[0];
      if (argument instanceof Class<?> type) {
        return type;
      }
      if (argument instanceof ParameterizedType inner
          && inner.getRawType() instanceof Class<?> raw) {
        return raw;
      }
    }
    throw OsierException.of(
        ErrorCode.INVALID_ARGUMENT,
        "component " + of.getName() + " must say what is in it, as Set<String> does");
  }

  public List<String> names() {
    return names;
  }

  public boolean isAnyIn(Map<FieldId, Reading> read) {
    return components.stream().anyMatch(c -> read.containsKey(c.field));
  }

  public R record(Map<FieldId, Reading> read) {
    @Nullable Object[] values = new Object[components.size()];
    for (int i = 0; i < values.length; i++) {
      Component component = components.get(i);
      values[i] = component.read(read.get(component.field));
    }
    return members.make(values);
  }

  /** Returns the updates that turn one record into the other. */
  public List<Operation.FieldUpdate> changes(R before, R after) {
    List<Operation.FieldUpdate> updates = new ArrayList<>();
    for (int i = 0; i < components.size(); i++) {
      Component component = components.get(i);
      Object from = members.get(before, i);
      Object to = members.get(after, i);
      if (!Objects.deepEquals(from, to)) {
        for (Operation operation : component.change(from, to)) {
          updates.add(new Operation.FieldUpdate(component.field, operation));
        }
      }
    }
    return updates;
  }

  private static final class Counter extends Component {
    Counter(String name, CrdtType type) {
      super(name, type);
    }

    @Override
    Object read(@Nullable Reading reading) {
      return reading instanceof Reading.Count count ? count.value() : 0L;
    }

    private static long number(@Nullable Object value) {
      return (Long) requireNonNull(value, "it is primitive");
    }

    @Override
    List<Operation> change(@Nullable Object before, @Nullable Object after) {
      try {
        long difference = Math.subtractExact(number(after), number(before));
        if (field.type() == CrdtType.G_COUNTER && difference < 0) {
          throw wrong("is a counter that only goes up, and would fall by " + -difference);
        }
        return List.of(new Operation.Increment(difference));
      } catch (ArithmeticException e) {
        throw OsierException.of(
            ErrorCode.OVERFLOW, "component " + name + " changes by too much", e);
      }
    }
  }

  private static final class Flag extends Component {
    Flag(String name, CrdtType type) {
      super(name, type);
    }

    @Override
    Object read(@Nullable Reading reading) {
      return reading instanceof Reading.Flag flag && flag.value();
    }

    @Override
    List<Operation> change(@Nullable Object before, @Nullable Object after) {
      return List.of(new Operation.SetFlag((Boolean) requireNonNull(after, "it is primitive")));
    }
  }

  private static final class Elements<E> extends Component {
    private final CheckedCodec<E> encoding;

    Elements(String name, CrdtType type, CheckedCodec<E> encoding) {
      super(name, type);
      this.encoding = encoding;
    }

    @Override
    Object read(@Nullable Reading reading) {
      return reading instanceof Reading.Many many ? encoding.set(many.values()) : Set.of();
    }

    @Override
    @SuppressWarnings("unchecked") // as the component is declared
    List<Operation> change(@Nullable Object before, @Nullable Object after) {
      if (after == null) {
        throw wrong("is a set, which may have no elements, and is not null");
      }
      List<Value> had = encoding.elements((Set<E>) requireNonNull(before, "was read"));
      List<Value> has = encoding.elements((Set<E>) after);
      List<Value> gone = new ArrayList<>(had);
      gone.removeAll(Set.copyOf(has));
      List<Value> come = new ArrayList<>(has);
      come.removeAll(Set.copyOf(had));
      if (!gone.isEmpty() && field.type() == CrdtType.G_SET) {
        throw wrong("is a set that only grows, and would lose " + gone.size() + " elements");
      }
      List<Operation> operations = new ArrayList<>();
      if (!gone.isEmpty()) {
        operations.add(new Operation.Remove(gone));
      }
      if (!come.isEmpty()) {
        operations.add(new Operation.Add(come));
      }
      return operations;
    }
  }

  private static final class Several<E> extends Component {
    private final CheckedCodec<E> encoding;

    Several(String name, CheckedCodec<E> encoding) {
      super(name, CrdtType.MV_REGISTER);
      this.encoding = encoding;
    }

    @Override
    Object read(@Nullable Reading reading) {
      return reading instanceof Reading.Many many ? encoding.list(many.values()) : List.of();
    }

    @Override
    @SuppressWarnings("unchecked") // as the component is declared
    List<Operation> change(@Nullable Object before, @Nullable Object after) {
      List<E> values = (List<E>) after;
      if (values == null || values.size() > 1) {
        throw wrong(
            "may be assigned one value, or none to clear it, not "
                + (values == null ? "null" : values.size() + " values"));
      }
      return List.of(
          values.isEmpty()
              ? new Operation.Clear()
              : new Operation.Assign(encoding.value(values.getFirst())));
    }
  }

  private static final class One<T> extends Component {
    private final CheckedCodec<T> encoding;
    private final boolean optional;
    private final @Nullable Object absent;

    One(String name, CheckedCodec<T> encoding, boolean optional, @Nullable Object absent) {
      super(name, CrdtType.LWW_REGISTER);
      this.encoding = encoding;
      this.optional = optional;
      this.absent = absent;
    }

    @Override
    @Nullable Object read(@Nullable Reading reading) {
      Optional<T> object =
          reading instanceof Reading.Single single
              ? single.value().map(encoding::object)
              : Optional.empty();
      return optional ? object : object.<Object>map(o -> o).orElse(absent);
    }

    @Override
    @SuppressWarnings("unchecked") // as the component is declared
    List<Operation> change(@Nullable Object before, @Nullable Object after) {
      if (after == null) {
        throw wrong("cannot be stored as null: declare it as Optional");
      }
      if (!optional) {
        return List.of(new Operation.Assign(encoding.value((T) after)));
      }
      Optional<T> object = (Optional<T>) after;
      return List.of(
          object.isEmpty()
              ? new Operation.Clear()
              : new Operation.Assign(encoding.value(object.get())));
    }
  }
}
