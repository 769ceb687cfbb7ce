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

  /**
   * A bounded counter, as far as is known where it was read.
   *
   * @param lower {@link BoundedCounter#NO_LOWER} if there is no bound
   * @param upper {@link BoundedCounter#NO_UPPER} if there is no bound
   * @param shares by datacenter; {@link Long#MAX_VALUE} where no bound limits it
   */
  record Rights(long value, long lower, long upper, SortedMap<String, Share> shares)
      implements Reading {}

  /** How much a datacenter may subtract, and how much it may add. */
  record Share(long down, long up) {}

  /** A map's present fields, in the order of their names. */
  record Fields(SortedMap<FieldId, Reading> fields) implements Reading {}
}
