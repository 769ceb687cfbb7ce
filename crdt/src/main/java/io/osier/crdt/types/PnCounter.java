package io.osier.crdt.types;

import io.osier.core.codec.WireInput;
import io.osier.crdt.CrdtType;

/** A counter that goes up and down. Its inner workings are those of {@link CounterSlots}. */
public final class PnCounter extends SlotCounter<PnCounter> {
  /** A new counter: 0. */
  public static final PnCounter EMPTY = new PnCounter(CounterSlots.EMPTY);

  private PnCounter(CounterSlots slots) {
    super(slots);
  }

  @Override
  PnCounter with(CounterSlots some) {
    return new PnCounter(some);
  }

  @Override
  boolean goesDown() {
    return true;
  }

  @Override
  public CrdtType type() {
    return CrdtType.PN_COUNTER;
  }

  /** Reads what {@link #write} wrote. */
  static PnCounter read(WireInput in) {
    return new PnCounter(CounterSlots.read(in, true));
  }
}
