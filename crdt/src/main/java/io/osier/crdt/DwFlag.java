package io.osier.crdt;

import io.osier.core.HeapSize;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;

/** A flag, off at first; of concurrent changes, disabling wins. */
public final class DwFlag implements DotStore<DwFlag> {
  /** A flag that is off. */
  public static final DwFlag EMPTY = new DwFlag(DotPair.EMPTY);

  private final DotPair changes;

  private DwFlag(DotPair changes) {
    this.changes = changes;
  }

  @Override
  public CrdtType type() {
    return CrdtType.DW_FLAG;
  }

  /** Whether it is on. */
  public boolean isEnabled() {
    return changes.holds();
  }

  @Override
  public DwFlag prepare(Operation operation, Preparation preparation) {
    if (!(operation instanceof Operation.SetFlag set)) {
      throw Stores.wrongOperation(type(), operation);
    }
    changes.supersede(preparation);
    return new DwFlag(
        set.enabled() ? DotPair.pro(preparation.nextDot()) : DotPair.con(preparation.nextDot()));
  }

  @Override
  public DwFlag reset(Preparation preparation) {
    changes.supersede(preparation);
    return EMPTY;
  }

  @Override
  public DwFlag join(DwFlag other, Joining joining) {
    return new DwFlag(changes.join(other.changes, joining.left(), joining.right()));
  }

  @Override
  public Reading read(Query query) {
    if (!(query instanceof Query.Whole)) {
      throw Stores.wrongQuery(type(), query);
    }
    return new Reading.Flag(isEnabled());
  }

  @Override
  public boolean isBottom() {
    return !isEnabled();
  }

  @Override
  public boolean isEmpty() {
    return changes.isEmpty();
  }

  @Override
  public DwFlag trimmed() {
    return this;
  }

  @Override
  public long heapBytes() {
    return HeapSize.object(HeapSize.REFERENCE) + changes.heapBytes();
  }

  @Override
  public long sizeBytes() {
    return changes.sizeBytes();
  }

  @Override
  public void write(WireOutput out) {
    changes.write(out);
  }

  /** Reads what {@link #write} wrote. */
  static DwFlag read(WireInput in) {
    return new DwFlag(DotPair.read(in));
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof DwFlag f && changes.equals(f.changes);
  }

  @Override
  public int hashCode() {
    return changes.hashCode();
  }

  @Override
  public String toString() {
    return changes.toString();
  }
}
