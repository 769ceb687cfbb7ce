package io.osier.crdt.types;

import io.osier.core.HeapSize;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.DotStore;
import io.osier.crdt.JoinContext;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.UpdateContext;

/**
 * What the two counters share, which is all but whether they go down: {@link CounterSlots} under
 * the rules of a {@link DotStore}.
 *
 * @param <C> the counter
 */
abstract sealed class SlotCounter<C extends SlotCounter<C>> implements DotStore<C>
    permits GCounter, PnCounter {
  private final CounterSlots slots;

  SlotCounter(CounterSlots slots) {
    this.slots = slots;
  }

  /** A counter of this type with other slots. */
  abstract C with(CounterSlots some);

  /** Whether it goes down, too: decrements are encoded only then. */
  abstract boolean goesDown();

  /** The current value; held at the ends of a long's range where replicas together leave it. */
  public final long value() {
    return slots.value();
  }

  @Override
  public C prepare(Operation operation, UpdateContext preparation) {
    if (!(operation instanceof Operation.Increment increment)) {
      throw TypeRegistry.wrongOperation(type(), operation);
    }
    return with(slots.add(increment.amount(), preparation));
  }

  @Override
  public final C reset(UpdateContext preparation) {
    return with(slots.reset());
  }

  @Override
  public final C join(C other, JoinContext joining) {
    SlotCounter<C> counter = other;
    return with(slots.join(counter.slots, joining));
  }

  @Override
  public final Reading read(Query query) {
    if (!(query instanceof Query.Whole)) {
      throw TypeRegistry.wrongQuery(type(), query);
    }
    return new Reading.Count(value());
  }

  @Override
  public final boolean isBottom() {
    return slots.isReset();
  }

  @Override
  public final boolean isEmpty() {
    return slots.isEmpty();
  }

  @Override
  public final boolean isTrimmedEmpty() {
    return slots.isReset();
  }

  @Override
  public final C trimmed() {
    return with(slots.trimmed());
  }

  @Override
  public final long heapBytes() {
    return HeapSize.object(HeapSize.REFERENCE) + slots.heapBytes();
  }

  @Override
  public final long sizeBytes() {
    return slots.sizeBytes();
  }

  @Override
  public final void write(WireOutput out) {
    slots.write(out, goesDown());
  }

  @Override
  public final boolean equals(Object o) {
    return o instanceof SlotCounter<?> c && type() == c.type() && slots.equals(c.slots);
  }

  @Override
  public final int hashCode() {
    return slots.hashCode();
  }

  @Override
  public final String toString() {
    return slots.toString();
  }
}
