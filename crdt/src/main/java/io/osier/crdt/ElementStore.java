package io.osier.crdt;

import io.osier.core.Value;
import io.osier.core.codec.WireOutput;

/**
 * What the sets share: elements are values, and the queries are the same.
 *
 * @param <S> the implementing class
 * @param <V> what is known of an element
 */
abstract class ElementStore<S extends ElementStore<S, V>, V> extends CellStore<S, Value, V> {
  ElementStore(Cells<Value, V> content) {
    super(content);
  }

  /** Whether the element is in the set. */
  public final boolean contains(Value element) {
    return isVisible(cell(element));
  }

  /** How many elements are in the set. */
  public final int size() {
    return visible();
  }

  @Override
  public final Reading read(Query query) {
    return switch (query) {
      case Query.Whole q -> new Reading.Many(sortedKeys(true));
      case Query.Contains q -> new Reading.Flag(contains(q.element()));
      case Query.Among q -> new Reading.Many(q.present(this::contains));
      case Query.Size q -> new Reading.Count(visible());
      default -> throw Stores.wrongQuery(type(), query);
    };
  }

  @Override
  final void writeKey(WireOutput out, Value element) {
    out.writeValue(element);
  }
}
