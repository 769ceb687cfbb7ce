package io.osier.crdt;

import io.osier.core.HeapSize;
import io.osier.core.Present;
import io.osier.core.Utf8;
import io.osier.core.Value;
import java.util.HashSet;
import java.util.List;
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
    };
  }

  /** The whole value. */
  record Whole() implements Query {}

  /** Whether a set contains an element: a {@link Reading.Flag}. */
  record Contains(Value element) implements Query {
    public Contains {
      Present.present(element, "an element");
    }
  }

  /** Which of some elements a set contains, each once, in their order: a {@link Reading.Many}. */
  record Among(List<Value> elements) implements Query {
    public Among {
      elements = Present.copyOf(elements, "an element");
    }

    /** Those that are there, each once, in their order. */
    public List<Value> present(Predicate<Value> isThere) {
      return elements.stream().distinct().filter(isThere).sorted().toList();
    }

    /**
     * Those that were not there, each once, in their order.
     *
     * @param former what was read with this query
     */
    public List<Value> absent(List<Value> former) {
      return present(Predicate.not(new HashSet<>(former)::contains));
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

  /** Some fields of a map, those that are present: a {@link Reading.Fields}. */
  record Select(List<String> names) implements Query {
    public Select {
      names = Present.copyOf(names, "a field's name");
    }
  }
}
