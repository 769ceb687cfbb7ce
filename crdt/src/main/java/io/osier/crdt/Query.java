package io.osier.crdt;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Present;
import io.osier.core.Utf8;
import io.osier.core.Value;
import io.osier.core.memory.HeapSize;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Predicate;

/** A question of a client about one object. */
public sealed interface Query {
  /** Returns about how many bytes this takes in the heap: O(its parts). */
  default long heapBytes() {
    return switch (this) {
      case Contains q -> HeapSize.object(HeapSize.REFERENCE) + q.element.heapBytes();
      case Among q -> {
        long bytes = HeapSize.object(HeapSize.REFERENCE) + HeapSize.list(q.elements.size());
        for (Value element : q.elements) {
          bytes += element.heapBytes();
        }
        yield bytes;
      }
      case Select q -> {
        long bytes = HeapSize.object(HeapSize.REFERENCE) + HeapSize.list(q.names.size());
        for (String name : q.names) {
          bytes += HeapSize.text(name.length(), Utf8.length(name));
        }
        yield bytes;
      }
      case Whole q -> HeapSize.object(0);
      case Size q -> HeapSize.object(0);
      case Rights q -> HeapSize.object(0);
      case Exists q -> HeapSize.object(0);
      case TimeToLive q -> HeapSize.object(0);
      case UntilExpiry q -> HeapSize.object(0);
      case PartTimeToLive q -> HeapSize.object(HeapSize.REFERENCE) + q.part.heapBytes();
      case Deadline q ->
          HeapSize.object(HeapSize.REFERENCE) + q.part.map(Part::heapBytes).orElse(0L);
      case Range q ->
          HeapSize.object(2 * HeapSize.REFERENCE + Integer.BYTES + 1)
              + q.from.map(Bound::heapBytes).orElse(0L)
              + q.to.map(Bound::heapBytes).orElse(0L);
    };
  }

  record Whole() implements Query {}

  /** Whether a set contains an element: a {@link Reading.Flag}. */
  record Contains(Value element) implements Query {
    public Contains {
      Present.present(element, "an element");
    }
  }

  /**
   * Which of some elements a set contains, each once, in their order: a {@link Reading.Many}. They
   * are compared by their order and not by hashes, since clients may choose elements that all have
   * one hash.
   */
  record Among(List<Value> elements) implements Query {
    public Among {
      elements = Present.copyOf(elements, "an element");
    }

    /** Returns the elements that the set contains, each once, in their order. */
    public List<Value> present(Predicate<Value> isThere) {
      if (elements.size() == 1) {
        return isThere.test(elements.getFirst()) ? elements : List.of();
      }
      return new TreeSet<>(elements).stream().filter(isThere).toList();
    }

    /**
     * Returns the elements that the set did not contain, each once, in their order.
     *
     * @param former the answer to this query
     */
    public List<Value> absent(List<Value> former) {
      return present(Predicate.not(new TreeSet<>(former)::contains));
    }
  }

  /** How many elements or fields there are: a {@link Reading.Count}. */
  record Size() implements Query {}

  /** A bounded counter's bounds, and the rights of each datacenter: a {@link Reading.Rights}. */
  record Rights() implements Query {}

  /**
   * Whether the object exists, of whatever type it is: whether a reader can tell it from a new one.
   * A {@link Reading.Flag}; the value itself is not read. If a type is requested, whether there is
   * an object of that type, whether or not there is one of another.
   */
  record Exists() implements Query {}

  /**
   * How long the object lives on, of whatever type it is: a {@link Reading.Count} of milliseconds
   * by the clock of the datacenter that is asked; -1 if it has no deadline or does not exist.
   */
  record TimeToLive() implements Query {}

  /**
   * How long nothing of the object expires, neither it nor a part of it, as {@link TimeToLive}: a
   * reading stays true for that long if nobody changes the object.
   */
  record UntilExpiry() implements Query {}

  /**
   * How long an element of a set or a field of a map lives on, if its object does: as {@link
   * TimeToLive}.
   */
  record PartTimeToLive(Part part) implements Query {
    public PartTimeToLive {
      Present.present(part, "a part");
    }
  }

  /**
   * When the object expires, of whatever type it is, or an element of a set or a field of a map, if
   * its object does not expire before: a {@link Reading.Count} of milliseconds since 1970; -1 if it
   * has no deadline or does not exist. It is for its own process, and does not travel.
   *
   * @param part empty for the object
   */
  record Deadline(Optional<Part> part) implements Query {
    public Deadline {
      Present.present(part, "an optional part");
    }
  }

  /** The present ones of some fields of a map, each once: a {@link Reading.Fields}. */
  record Select(List<String> names) implements Query {
    public Select {
      names = Present.copyOf(names, "a field's name");
    }
  }

  /**
   * Consecutive elements of a set, or fields of a map with their values: a {@link Reading.Many} or
   * {@link Reading.Fields}, in ascending order even if {@code descending}. It costs as much as it
   * returns, not as the object's size; in sets that remember removals (rwset, lwwset) also the
   * removals in between.
   *
   * @param from the lower end; empty: with the first one
   * @param to the upper end; empty: with the last one
   * @param descending if there are more than the limit, whether those nearest to the upper end are
   *     returned instead of those nearest to the lower
   * @param limit the most that are returned, 1 to {@value #LIMIT_MAX}; if that many are, more may
   *     follow. Fields of one name and several types come together, and may exceed it by a few
   */
  record Range(Optional<Bound> from, Optional<Bound> to, boolean descending, int limit)
      implements Query {
    /** Longer ranges take several queries. */
    public static final int LIMIT_MAX = 10_000;

    public Range {
      Present.present(from, "a bound");
      Present.present(to, "a bound");
      if (limit < 1 || limit > LIMIT_MAX) {
        throw OsierException.of(
            ErrorCode.INVALID_ARGUMENT,
            "a range shows 1 to " + LIMIT_MAX + " elements or fields at once, not " + limit);
      }
    }
  }

  /**
   * An end of a range.
   *
   * @param part an element, or the fields of a name, which need not exist
   * @param inclusive whether the range includes it
   */
  record Bound(Part part, boolean inclusive) {
    public Bound {
      Present.present(part, "an element or field");
    }

    long heapBytes() {
      return HeapSize.object(HeapSize.REFERENCE) // of the Optional
          + HeapSize.object(HeapSize.REFERENCE + 1)
          + part.heapBytes();
    }
  }
}
