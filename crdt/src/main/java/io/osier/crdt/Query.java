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

/** What a client wants to know of one object. */
public sealed interface Query {
  /** What this takes in the heap, about, in bytes: O(its parts). */
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
   * are told apart by their order, as clients may choose elements that all have one hash.
   */
  record Among(List<Value> elements) implements Query {
    public Among {
      elements = Present.copyOf(elements, "an element");
    }

    /** Those that are there, each once, in their order. */
    public List<Value> present(Predicate<Value> isThere) {
      if (elements.size() == 1) {
        return isThere.test(elements.getFirst()) ? elements : List.of();
      }
      return new TreeSet<>(elements).stream().filter(isThere).toList();
    }

    /**
     * Those that were not there, each once, in their order.
     *
     * @param former what was read with this query
     */
    public List<Value> absent(List<Value> former) {
      return present(Predicate.not(new TreeSet<>(former)::contains));
    }
  }

  /** How many elements or fields there are: a {@link Reading.Count}. */
  record Size() implements Query {}

  /** A bounded counter's bounds, and who holds which rights: a {@link Reading.Rights}. */
  record Rights() implements Query {}

  /**
   * Whether the object is there, of whatever type it is: whether a reader can tell it from a new
   * one. A {@link Reading.Flag}; the value stays where it is. Where a type is asked for, whether
   * there is an object of that type, be there one of another or not.
   */
  record Exists() implements Query {}

  /**
   * How long the object lives on, of whatever type it is: a {@link Reading.Count} of milliseconds
   * by the clock of the datacenter that is asked; -1 for what has no deadline or is not there.
   */
  record TimeToLive() implements Query {}

  /**
   * How long nothing of the object expires, neither it nor a part of it: as {@link TimeToLive}. So
   * long a reading of it stays true that nobody changes.
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
   * its object does not before: a {@link Reading.Count} of milliseconds since 1970; -1 for what has
   * no deadline or is not there. It is for its own process, and does not travel.
   *
   * @param part empty for the object
   */
  record Deadline(Optional<Part> part) implements Query {
    public Deadline {
      Present.present(part, "an optional part");
    }
  }

  /** Some fields of a map, those that are present, each once: a {@link Reading.Fields}. */
  record Select(List<String> names) implements Query {
    public Select {
      names = Present.copyOf(names, "a field's name");
    }
  }

  /**
   * Some elements of a set, or fields of a map with their values, that follow each other in their
   * order: a {@link Reading.Many} or {@link Reading.Fields}, in their order, whichever way they
   * were taken. It costs what it shows, not what the object has; in sets that remember removals
   * (rwset, lwwset) also what was removed in between.
   *
   * @param from where it begins, at the lower end; empty: with the first one
   * @param to where it ends, at the upper end; empty: with the last one
   * @param descending whether those nearest to the upper end are taken, where there are more than
   *     the limit, instead of those nearest to the lower
   * @param limit so many at most, 1 to {@value #LIMIT_MAX}; if so many are shown, more may follow.
   *     Fields that one name was given with several types come together, and may be a few more
   */
  record Range(Optional<Bound> from, Optional<Bound> to, boolean descending, int limit)
      implements Query {
    /** More than this are shown by several queries. */
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
   * @param part an element or the fields of a name, be they there or not
   * @param inclusive whether the range has it
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
