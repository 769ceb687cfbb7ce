package io.osier.crdt.types;

import io.osier.core.HeapSize;
import io.osier.core.Value;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DotFun;
import io.osier.crdt.DotStore;
import io.osier.crdt.JoinContext;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.UpdateContext;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A register that keeps the values of all concurrent assignments, for the application to choose
 * from; the next assignment replaces those that it saw.
 */
public final class MvRegister implements DotStore<MvRegister> {
  /** A register without a value. */
  public static final MvRegister EMPTY = new MvRegister(DotFun.empty());

  private final DotFun<Value> writes;

  private MvRegister(DotFun<Value> writes) {
    this.writes = writes;
  }

  @Override
  public CrdtType type() {
    return CrdtType.MV_REGISTER;
  }

  /** The values, distinct and in their order; none if never assigned. */
  public List<Value> values() {
    TreeSet<Value> values = new TreeSet<>();
    for (int i = 0; i < writes.size(); i++) {
      values.add(writes.value(i));
    }
    return List.copyOf(values);
  }

  @Override
  public MvRegister prepare(Operation operation, UpdateContext preparation) {
    if (!(operation instanceof Operation.Assign assign)) {
      throw TypeRegistry.wrongOperation(type(), operation);
    }
    writes.supersede(preparation);
    return new MvRegister(DotFun.of(preparation.nextDot(), assign.value()));
  }

  @Override
  public MvRegister reset(UpdateContext preparation) {
    writes.supersede(preparation);
    return EMPTY;
  }

  @Override
  public MvRegister join(MvRegister other, JoinContext joining) {
    return new MvRegister(writes.join(other.writes, joining.left(), joining.right()));
  }

  @Override
  public Reading read(Query query) {
    return switch (query) {
      case Query.Whole q -> new Reading.Many(values());
      case Query.Contains q -> new Reading.Flag(values().contains(q.element()));
      case Query.Among q -> new Reading.Many(q.present(new TreeSet<>(values())::contains));
      case Query.Size q -> new Reading.Count(values().size());
      default -> throw TypeRegistry.wrongQuery(type(), query);
    };
  }

  @Override
  public boolean isBottom() {
    return writes.isEmpty();
  }

  @Override
  public boolean isEmpty() {
    return writes.isEmpty();
  }

  @Override
  public MvRegister trimmed() {
    return this;
  }

  @Override
  public long heapBytes() {
    return HeapSize.object(HeapSize.REFERENCE) + writes.heapBytes(Value::heapBytes);
  }

  @Override
  public long sizeBytes() {
    return writes.sizeBytes(Value::sizeBytes);
  }

  @Override
  public void write(WireOutput out) {
    writes.write(out, WireOutput::writeValue);
  }

  /** Reads what {@link #write} wrote. */
  static MvRegister read(WireInput in) {
    return new MvRegister(DotFun.read(in, WireInput::readValue));
  }

  /** See {@link TypeRegistry#skip}. */
  static boolean skip(WireInput in) {
    return DotFun.skip(in, WireInput::skipValue);
  }

  /** See {@link TypeRegistry#readValue}. */
  static @Nullable Reading readValue(WireInput in) {
    return DotFun.readOnly(in, i -> new Reading.Many(List.of(i.readValue())));
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof MvRegister r && writes.equals(r.writes);
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
