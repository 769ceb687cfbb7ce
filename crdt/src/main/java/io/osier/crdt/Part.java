package io.osier.crdt;

import io.osier.core.Present;
import io.osier.core.Utf8;
import io.osier.core.Value;
import io.osier.core.memory.HeapSize;

/** A part of an object that may have a deadline of its own. */
public sealed interface Part {
  /** Returns about how many bytes this takes in the heap. */
  default long heapBytes() {
    return HeapSize.object(HeapSize.REFERENCE)
        + switch (this) {
          case Element p -> p.value.heapBytes();
          case Field p -> HeapSize.text(p.name.length(), Utf8.length(p.name));
        };
  }

  record Element(Value value) implements Part {
    public Element {
      Present.present(value, "an element");
    }
  }

  /** The fields of a map that have a name, of any type. */
  record Field(String name) implements Part {
    public Field {
      Present.present(name, "a field's name");
    }
  }
}
