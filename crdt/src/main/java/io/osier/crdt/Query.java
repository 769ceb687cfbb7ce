package io.osier.crdt;

import io.osier.core.Present;
import io.osier.core.Value;
import java.util.List;

/** What a client wants to know of one object. */
public sealed interface Query {
  /** The whole value. */
  record Whole() implements Query {}

  /** Whether a set contains an element: a {@link Reading.Flag}. */
  record Contains(Value element) implements Query {
    public Contains {
      Present.present(element, "an element");
    }
  }

  /** How many elements or fields there are: a {@link Reading.Count}. */
  record Size() implements Query {}

  /** A bounded counter's bounds, and who holds which rights: a {@link Reading.Rights}. */
  record Rights() implements Query {}

  /** Some fields of a map, those that are present: a {@link Reading.Fields}. */
  record Select(List<String> names) implements Query {
    public Select {
      names = Present.copyOf(names, "a field's name");
    }
  }
}
