package io.osier.crdt.types;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.codec.WireInput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.UpdateContext;

/** A counter that only goes up. Its inner workings are those of {@link CounterSlots}. */
public final class GCounter extends SlotCounter<GCounter> {
  /** A new counter: 0. */
  public static final GCounter EMPTY = new GCounter(CounterSlots.EMPTY);

  private GCounter(CounterSlots slots) {
    super(slots);
  }

  @Override
  GCounter with(CounterSlots some) {
    return new GCounter(some);
  }

  @Override
  boolean goesDown() {
    return false;
  }

  @Override
  public CrdtType type() {
    return CrdtType.G_COUNTER;
  }

  @Override
  public GCounter prepare(Operation operation, UpdateContext preparation) {
    if (operation instanceof Operation.Increment increment && increment.amount() < 0) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "a "
              + type()
              + " only goes up: the amount must be at least 0, not "
              + increment.amount());
    }
    return super.prepare(operation, preparation);
  }

  /** Reads what {@link #write} wrote. */
  static GCounter read(WireInput in) {
    return new GCounter(CounterSlots.read(in, false));
  }
}
