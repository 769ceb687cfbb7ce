package io.osier.crdt.types;

import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.memory.HeapSize;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DotSet;
import io.osier.crdt.DotStore;
import io.osier.crdt.JoinContext;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.UpdateContext;

/**
 * A flag, off at first; it is on if it has dots of enablings and none of disablings. Each change
 * removes all dots that it saw. Enabling leaves a dot. Where disabling wins over concurrent
 * changes, it leaves a dot, too; where enabling wins, disabling leaves nothing, so that a
 * concurrent enabling, whose dot it did not see, stays.
 */
public final class Flag implements DotStore<Flag> {
  /** A flag that is off; of concurrent changes, enabling wins. */
  public static final Flag ENABLE_WINS = new Flag(CrdtType.EW_FLAG, DotSet.EMPTY, DotSet.EMPTY);

  /** A flag that is off; of concurrent changes, disabling wins. */
  public static final Flag DISABLE_WINS = new Flag(CrdtType.DW_FLAG, DotSet.EMPTY, DotSet.EMPTY);

  private final CrdtType type;
  private final DotSet pros;

  /** Dots of disablings. Where enabling wins there are none, and they are not written. */
  private final DotSet cons;

  private Flag(CrdtType type, DotSet pros, DotSet cons) {
    this.type = type;
    this.pros = pros;
    this.cons = cons;
  }

  @Override
  public CrdtType type() {
    return type;
  }

  private boolean disablingWins() {
    return type == CrdtType.DW_FLAG;
  }

  public boolean isEnabled() {
    return !pros.isEmpty() && cons.isEmpty();
  }

  @Override
  public Flag prepare(Operation operation, UpdateContext preparation) {
    if (!(operation instanceof Operation.SetFlag set)) {
      throw wrongOperation(operation);
    }
    Flag off = reset(preparation);
    if (!set.enabled() && !disablingWins()) {
      return off;
    }
    DotSet dot = DotSet.of(preparation.nextDot());
    return set.enabled() ? new Flag(type, dot, DotSet.EMPTY) : new Flag(type, DotSet.EMPTY, dot);
  }

  @Override
  public Flag reset(UpdateContext preparation) {
    pros.supersede(preparation);
    cons.supersede(preparation);
    return disablingWins() ? DISABLE_WINS : ENABLE_WINS;
  }

  @Override
  public Flag join(Flag other, JoinContext joining) {
    return new Flag(
        type,
        pros.join(other.pros, joining.left(), joining.right()),
        cons.join(other.cons, joining.left(), joining.right()));
  }

  @Override
  public Reading read(Query query) {
    if (!(query instanceof Query.Whole)) {
      throw wrongQuery(query);
    }
    return new Reading.Flag(isEnabled());
  }

  @Override
  public boolean isBottom() {
    return !isEnabled();
  }

  @Override
  public boolean isEmpty() {
    return pros.isEmpty() && cons.isEmpty();
  }

  @Override
  public long heapBytes() {
    return HeapSize.object(3 * HeapSize.REFERENCE) + pros.heapBytes() + cons.heapBytes();
  }

  @Override
  public long sizeBytes() {
    return (long) pros.sizeBytes() + (disablingWins() ? cons.sizeBytes() : 0);
  }

  @Override
  public void write(WireOutput out) {
    pros.write(out);
    if (disablingWins()) {
      cons.write(out);
    }
  }

  /** Reads the form that {@link #write} produces, into a flag that is off. */
  Flag read(WireInput in) {
    return new Flag(type, DotSet.read(in), disablingWins() ? DotSet.read(in) : DotSet.EMPTY);
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof Flag f && type == f.type && pros.equals(f.pros) && cons.equals(f.cons);
  }

  @Override
  public int hashCode() {
    return 31 * pros.hashCode() + cons.hashCode();
  }

  @Override
  public String toString() {
    return "on by " + pros + (cons.isEmpty() ? "" : ", off by " + cons);
  }
}
