package io.osier.crdt;

import io.osier.core.Value;

/**
 * A set that only grows. Only clearing it, or removing the field that it is, makes it smaller, by
 * what was seen; that is why its elements carry dots at all.
 */
public final class GSet extends TaggedSet<GSet> {
  /** The empty set. */
  public static final GSet EMPTY = new GSet(Cells.none());

  private GSet(Cells<Value, DotSet> content) {
    super(content);
  }

  @Override
  GSet with(Cells<Value, DotSet> content) {
    return new GSet(content);
  }

  @Override
  public CrdtType type() {
    return CrdtType.G_SET;
  }

  @Override
  public GSet prepare(Operation operation, Preparation preparation) {
    if (!(operation instanceof Operation.Add add)) {
      throw Stores.wrongOperation(type(), operation);
    }
    return add(add.elements(), preparation);
  }
}
