package io.osier.crdt;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.core.memory.HeapSize;
import io.osier.crdt.types.BoundedCounter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** The answer to a {@link Query}: a plain value without any metadata. Immutable. */
public sealed interface Reading {
  /**
   * Returns about how many bytes this takes in the heap: O(its parts). Its values count, although
   * the object shares them while it has them.
   */
  default long heapBytes() {
    return switch (this) {
      case Count r -> HeapSize.object(Long.BYTES);
      case Flag r -> HeapSize.object(1);
      case Single r ->
          HeapSize.object(HeapSize.REFERENCE)
              + HeapSize.object(HeapSize.REFERENCE)
              + (r.value.isPresent() ? r.value.get().heapBytes() : 0);
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

  /**
   * Returns the number that a counter, or a bounded one, shows.
   *
   * @throws OsierException WRONG_TYPE if this is the reading of another type; so do the other
   *     methods
   */
  default long asLong() {
    return switch (this) {
      case Count r -> r.value;
      case Rights r -> r.value;
      default -> throw another("counter");
    };
  }

  /** Whether a flag is on. */
  default boolean asBoolean() {
    return as(Flag.class, "flag").value;
  }

  /** Returns the value of a last-writer-wins register; empty if it was never assigned. */
  default Optional<Value> asValue() {
    return as(Single.class, "last-writer-wins register").value;
  }

  /** Returns a set's elements, or a multi-value register's values, in the order of values. */
  default List<Value> asList() {
    return as(Many.class, "set or multi-value register").values;
  }

  default Fields asFields() {
    return as(Fields.class, "map");
  }

  private <R extends Reading> R as(Class<R> form, String wanted) {
    if (form.isInstance(this)) {
      return form.cast(this);
    }
    throw another(wanted);
  }

  private OsierException another(String wanted) {
    String is =
        switch (this) {
          case Count r -> "counter";
          case Flag r -> "flag";
          case Single r -> "last-writer-wins register";
          case Many r -> "set or multi-value register";
          case Rights r -> "bounded counter";
          case Fields r -> "map";
        };
    return OsierException.of(
        ErrorCode.WRONG_TYPE, "the answer is that of a " + is + ", not of a " + wanted);
  }

  /** The bytes of an entry of a tree map. */
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
   * A bounded counter, as far as it was known where it was read.
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
  record Fields(SortedMap<FieldId, Reading> fields) implements Reading {
    /**
     * Returns the value of a field; if there are several of this name, that of the first type.
     * Empty if there is none.
     */
    public Optional<Reading> field(String name) {
      return fields.entrySet().stream()
          .filter(e -> e.getKey().name().equals(name))
          .map(Map.Entry::getValue)
          .findFirst();
    }

    /**
     * Returns the fields that are counters, by their names; if one name has counters of both types,
     * their sum.
     */
    public SortedMap<String, Long> counters() {
      SortedMap<String, Long> counters = new TreeMap<>();
      fields.forEach(
          (field, reading) -> {
            if (reading instanceof Count count) {
              counters.merge(field.name(), count.value, Long::sum);
            }
          });
      return counters;
    }
  }
}
