package io.osier.crdt;

import io.osier.core.ErrorCode;
import io.osier.core.HeapSize;
import io.osier.core.OsierException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;

/** A counter that only goes up. Its inner workings are those of {@link CounterSlots}. */
public final class GCounter implements DotStore<GCounter> {
  /** A new counter: 0. */
  public static final GCounter EMPTY = new GCounter(CounterSlots.EMPTY);

  private final CounterSlots slots;

  private GCounter(CounterSlots slots) {
    this.slots = slots;
  }

  @Override
  public CrdtType type() {
    return CrdtType.G_COUNTER;
  }

  /** The current value; held at the ends of a long's range where replicas together leave it. */
  public long value() {
    return slots.value();
  }

  @Override
  public GCounter prepare(Operation operation, Preparation preparation) {
    if (!(operation instanceof Operation.Increment increment)) {
      throw Stores.wrongOperation(type(), operation);
    }
    if (increment.amount() < 0) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "a "
              + type()
              + " only goes up: the amount must be at least 0, not "
              + increment.amount());
    }
    return new GCounter(slots.add(increment.amount(), preparation));
  }

  @Override
  public GCounter reset(Preparation preparation) {
    return new GCounter(slots.reset());
  }

  @Override
  public GCounter join(GCounter other, Joining joining) {
    return new GCounter(slots.join(other.slots, joining));
  }

  @Override
  public Reading read(Query query) {
    if (!(query instanceof Query.Whole)) {
      throw Stores.wrongQuery(type(), query);
    }
    return new Reading.Count(value());
  }

  @Override
  public boolean isBottom() {
    return slots.isReset();
  }

  @Override
  public boolean isEmpty() {
    return slots.isEmpty();
  }

  @Override
  public boolean isTrimmedEmpty() {
    return slots.isReset();
  }

  @Override
  public GCounter trimmed() {
    return new GCounter(slots.trimmed());
  }

  @Override
  public long heapBytes() {
    return HeapSize.object(HeapSize.REFERENCE) + slots.heapBytes();
  }

  @Override
  public long sizeBytes() {
    return slots.sizeBytes();
  }

  @Override
  public void write(WireOutput out) {
    slots.write(out, false);
  }

  /** Reads what {@link #write} wrote. */
  static GCounter read(WireInput in) {
    return new GCounter(CounterSlots.read(in, false));
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof GCounter c && slots.equals(c.slots);
  }

  @Override
  public int hashCode() {
    return slots.hashCode();
  }

  @Override
  public String toString() {
    return slots.toString();
  }
}
