package io.osier.crdt;

import io.osier.core.HeapSize;
import io.osier.core.Value;
import io.osier.crdt.types.BoundedCounter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;

/** The answer to a {@link Query}: a plain value without any metadata. Immutable. */
public sealed interface Reading {
  /**
   * What this takes in the heap, about, in bytes: O(its parts). Its values count, although the
   * object shares them as long as it has them.
   */
  default long heapBytes() {
    return switch (this) {
      case Count r -> HeapSize.object(Long.BYTES);
      case Flag r -> HeapSize.object(1);
      case Single r ->
          HeapSize.object(HeapSize.REFERENCE)
              + HeapSize.object(HeapSize.REFERENCE)
              + r.value.map(Value::heapBytes).orElse(0L);
      case Many r -> {
        long bytes = HeapSize.object(HeapSize.REFERENCE) + HeapSize.list(r.values.size());
        for (Value value : r.values) {
          bytes += value.heapBytes();
        }
        yield bytes;
      }
      case Rights r ->
          HeapSize.object(3 * Long.BYTES + HeapSize.REFERENCE)
              + r.shares.size() * (ENTRY_BYTES + HeapSize.object(2 * Long.BYTES));
      case Fields r -> {
        long bytes = HeapSize.object(HeapSize.REFERENCE);
        for (Map.Entry<FieldId, Reading> e : r.fields.entrySet()) {
          bytes += ENTRY_BYTES + e.getKey().heapBytes() + e.getValue().heapBytes();
        }
        yield bytes;
      }
    };
  }

  /** An entry of a tree. */
  long ENTRY_BYTES = HeapSize.object(5 * HeapSize.REFERENCE + 1);

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
