package io.osier.crdt;

import io.osier.core.HeapSize;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;

/** A counter that goes up and down. Its inner workings are those of {@link CounterSlots}. */
public final class PnCounter implements DotStore<PnCounter> {
  /** A new counter: 0. */
  public static final PnCounter EMPTY = new PnCounter(CounterSlots.EMPTY);

  private final CounterSlots slots;

  private PnCounter(CounterSlots slots) {
    this.slots = slots;
  }

  @Override
  public CrdtType type() {
    return CrdtType.PN_COUNTER;
  }

  /** The current value; held at the ends of a long's range where replicas together leave it. */
  public long value() {
    return slots.value();
  }

  @Override
  public PnCounter prepare(Operation operation, Preparation preparation) {
    if (!(operation instanceof Operation.Increment increment)) {
      throw Stores.wrongOperation(type(), operation);
    }
    return new PnCounter(slots.add(increment.amount(), preparation));
  }

  @Override
  public PnCounter reset(Preparation preparation) {
    return new PnCounter(slots.reset());
  }

  @Override
  public PnCounter join(PnCounter other, Joining joining) {
    return new PnCounter(slots.join(other.slots, joining));
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
  public PnCounter trimmed() {
    return new PnCounter(slots.trimmed());
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
    slots.write(out, true);
  }

  /** Reads what {@link #write} wrote. */
  static PnCounter read(WireInput in) {
    return new PnCounter(CounterSlots.read(in, true));
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof PnCounter c && slots.equals(c.slots);
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
