package io.osier.crdt;

import io.osier.core.HeapSize;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;

/**
 * A flag, off at first; of concurrent changes, enabling wins. Each enabling leaves a dot; disabling
 * removes the dots that it saw, so a concurrent enabling, whose dot it did not see, stays.
 */
public final class EwFlag implements DotStore<EwFlag> {
  /** A flag that is off. */
  public static final EwFlag EMPTY = new EwFlag(DotSet.EMPTY);

  private final DotSet enables;

  private EwFlag(DotSet enables) {
    this.enables = enables;
  }

  @Override
  public CrdtType type() {
    return CrdtType.EW_FLAG;
  }

  /** Whether it is on. */
  public boolean isEnabled() {
    return !enables.isEmpty();
  }

  @Override
  public EwFlag prepare(Operation operation, Preparation preparation) {
    if (!(operation instanceof Operation.SetFlag set)) {
      throw Stores.wrongOperation(type(), operation);
    }
    enables.supersede(preparation);
    return set.enabled() ? new EwFlag(DotSet.of(preparation.nextDot())) : EMPTY;
  }

  @Override
  public EwFlag reset(Preparation preparation) {
    enables.supersede(preparation);
    return EMPTY;
  }

  @Override
  public EwFlag join(EwFlag other, Joining joining) {
    return new EwFlag(enables.join(other.enables, joining.left(), joining.right()));
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
    return enables.isEmpty();
  }

  @Override
  public boolean isEmpty() {
    return enables.isEmpty();
  }

  @Override
  public EwFlag trimmed() {
    return this;
  }

  @Override
  public long heapBytes() {
    return HeapSize.object(HeapSize.REFERENCE) + enables.heapBytes();
  }

  @Override
  public long sizeBytes() {
    return enables.sizeBytes();
  }

  @Override
  public void write(WireOutput out) {
    enables.write(out);
  }

  /** Reads what {@link #write} wrote. */
  static EwFlag read(WireInput in) {
    return new EwFlag(DotSet.read(in));
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof EwFlag f && enables.equals(f.enables);
  }

  @Override
  public int hashCode() {
    return enables.hashCode();
  }

  @Override
  public String toString() {
    return "on by " + enables;
  }
}
