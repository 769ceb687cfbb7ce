package io.osier.crdt.types;

import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DotSet;
import io.osier.crdt.Operation;
import io.osier.crdt.UpdateContext;

/**
 * A set; of concurrent changes of an element, adding wins. Without tombstones.
 *
 * <p>Why is an element missing here? Because every addition of it that has come here was seen by a
 * removal that has come here. An addition that the remover had not seen keeps the element.
 */
public final class AwSet extends TaggedSet<AwSet> {
  /** The empty set. */
  public static final AwSet EMPTY = new AwSet(EntryContent.none());

  private AwSet(EntryContent<Value, DotSet> content) {
    super(content);
  }

  @Override
  AwSet with(EntryContent<Value, DotSet> content) {
    return new AwSet(content);
  }

  @Override
  public CrdtType type() {
    return CrdtType.AW_SET;
  }

  @Override
  public AwSet prepare(Operation operation, UpdateContext preparation) {
    return switch (operation) {
      case Operation.Add add -> add(add.elements(), preparation);
      case Operation.Remove remove -> remove(remove.elements(), preparation);
      default -> throw TypeRegistry.wrongOperation(type(), operation);
    };
  }
}
