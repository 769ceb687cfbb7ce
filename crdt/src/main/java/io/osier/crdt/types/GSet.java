package io.osier.crdt.types;

import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DotSet;
import io.osier.crdt.Operation;
import io.osier.crdt.UpdateContext;

/**
 * A set that only grows. Only clearing it, or removing the field that it is, makes it smaller, by
 * what was seen; that is why its elements carry dots at all.
 */
public final class GSet extends TaggedSet<GSet> {
  /** The empty set. */
  public static final GSet EMPTY = new GSet(EntryContent.none());

  private GSet(EntryContent<Value, DotSet> content) {
    super(content);
  }

  @Override
  GSet with(EntryContent<Value, DotSet> content) {
    return new GSet(content);
  }

  @Override
  public CrdtType type() {
    return CrdtType.G_SET;
  }

  @Override
  public GSet prepare(Operation operation, UpdateContext preparation) {
    if (!(operation instanceof Operation.Add add)) {
      throw TypeRegistry.wrongOperation(type(), operation);
    }
    return add(add.elements(), preparation);
  }
}
