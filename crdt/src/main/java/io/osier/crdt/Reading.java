package io.osier.crdt;

import io.osier.core.Value;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/** The answer to a {@link Query}: a plain value without any metadata. Immutable. */
public sealed interface Reading {
  /** A counter's value or a size. */
  record Count(long value) implements Reading {}

  /** A flag's value or an element's membership. */
  record Flag(boolean value) implements Reading {}

  /** A last-writer-wins register's value; empty if never assigned. */
  record Single(Optional<Value> value) implements Reading {}

  /** A multi-value register's values or a set's elements: distinct, in the order of values. */
  record Many(List<Value> values) implements Reading {}

  /** A map's present fields, in the order of their names. */
  record Fields(SortedMap<FieldId, Reading> fields) implements Reading {}
}
