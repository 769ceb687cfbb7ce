package io.osier.crdt.types;

import io.osier.core.Value;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.memory.HeapSize;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DotFun;
import io.osier.crdt.DotStore;
import io.osier.crdt.JoinContext;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.UpdateContext;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A register that keeps the values of all concurrent assignments; the next one replaces those that
 * it saw. The type {@link CrdtType#MV_REGISTER} returns all of them, for the application to choose
 * from; the other types return the least or the greatest one, in the order of values.
 *
 * <p>Why does an assignment to a greatest-value register leave a dot even if it changes nothing? It
 * asserts the register's present value, and a reset that did not see it leaves that. So an
 * assignment writes the value that it makes of the register, and there is one value, or one for
 * each concurrent assignment.
 */
public final class ValueRegister implements DotStore<ValueRegister> {
  /** A register of all concurrent values, without one. */
  public static final ValueRegister EMPTY_MULTI =
      new ValueRegister(CrdtType.MV_REGISTER, DotFun.empty());

  /** A register of the least value, without one. */
  public static final ValueRegister EMPTY_MIN =
      new ValueRegister(CrdtType.MIN_REGISTER, DotFun.empty());

  /** A register of the greatest value, without one. */
  public static final ValueRegister EMPTY_MAX =
      new ValueRegister(CrdtType.MAX_REGISTER, DotFun.empty());

  private final CrdtType type;
  private final DotFun<Value> writes;

  private ValueRegister(CrdtType type, DotFun<Value> writes) {
    this.type = type;
    this.writes = writes;
  }

  @Override
  public CrdtType type() {
    return type;
  }

  private TreeSet<Value> ordered() {
    TreeSet<Value> values = new TreeSet<>();
    for (int i = 0; i < writes.size(); i++) {
      values.add(writes.value(i));
    }
    return values;
  }

  /** Returns the values, distinct and in their order; none if never assigned. */
  public List<Value> values() {
    return List.copyOf(ordered());
  }

  /** Returns the least or greatest of the values, by the type. */
  private Value extreme(TreeSet<Value> values) {
    return type == CrdtType.MIN_REGISTER ? values.first() : values.last();
  }

  @Override
  public ValueRegister prepare(Operation operation, UpdateContext preparation) {
    if (!(operation instanceof Operation.Assign assign)) {
      throw wrongOperation(operation);
    }
    Value value = assign.value();
    if (type != CrdtType.MV_REGISTER) {
      TreeSet<Value> values = ordered();
      values.add(value);
      value = extreme(values);
    }
    writes.supersede(preparation);
    return new ValueRegister(type, DotFun.of(preparation.nextDot(), value));
  }

  @Override
  public ValueRegister reset(UpdateContext preparation) {
    writes.supersede(preparation);
    return new ValueRegister(type, DotFun.empty());
  }

  @Override
  public ValueRegister join(ValueRegister other, JoinContext joining) {
    return new ValueRegister(type, writes.join(other.writes, joining.left(), joining.right()));
  }

  @Override
  public Reading read(Query query) {
    if (type != CrdtType.MV_REGISTER) {
      if (!(query instanceof Query.Whole)) {
        throw wrongQuery(query);
      }
      return new Reading.Single(
          writes.isEmpty() ? Optional.empty() : Optional.of(extreme(ordered())));
    }
    return switch (query) {
      case Query.Whole q -> new Reading.Many(values());
      case Query.Contains q -> new Reading.Flag(values().contains(q.element()));
      case Query.Among q -> new Reading.Many(q.present(ordered()::contains));
      case Query.Size q -> new Reading.Count(values().size());
      default -> throw wrongQuery(query);
    };
  }

  @Override
  public boolean isBottom() {
    return writes.isEmpty();
  }

  @Override
  public long heapBytes() {
    return HeapSize.object(2 * HeapSize.REFERENCE) + writes.heapBytes(Value::heapBytes);
  }

  @Override
  public long sizeBytes() {
    return writes.sizeBytes(Value::sizeBytes);
  }

  @Override
  public void write(WireOutput out) {
    writes.write(out, WireOutput::writeValue);
  }

  /** Reads the form that {@link #write} produces, into a register of this type. */
  ValueRegister read(WireInput in) {
    return new ValueRegister(type, DotFun.read(in, WireInput::readValue));
  }

  /** See {@link TypeRegistry#skip}. */
  static boolean skip(WireInput in) {
    return DotFun.skip(in, WireInput::skipValue);
  }

  /** See {@link TypeRegistry#readValue}. */
  @Nullable Reading readValue(WireInput in) {
    Value only = DotFun.readOnly(in, WireInput::readValue);
    if (only == null) {
      return null;
    }
    return type == CrdtType.MV_REGISTER
        ? new Reading.Many(List.of(only))
        : new Reading.Single(Optional.of(only));
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof ValueRegister r && type == r.type && writes.equals(r.writes);
  }

  @Override
  public int hashCode() {
    return writes.hashCode();
  }

  @Override
  public String toString() {
    return writes.toString();
  }
}
