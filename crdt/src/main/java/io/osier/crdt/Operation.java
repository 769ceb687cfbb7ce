package io.osier.crdt;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Present;
import io.osier.core.Value;
import io.osier.crdt.types.BoundedCounter;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/**
 * What a client asks to be done with one object. Operations are what travels from a client to a
 * datacenter; between datacenters travel the deltas that they are prepared into.
 */
public sealed interface Operation {
  /** This operation as several that do the same one after the other: only of maps more than one. */
  default List<Operation> parts() {
    return List.of(this);
  }

  /** Whether it only adds to a sum of its replica, and so removes nothing. Asked of a part. */
  default boolean isSum() {
    return this instanceof Increment
        || this instanceof IncrementDecimal
        || this instanceof IncrementWithin
        || this instanceof Bound
        || this instanceof Transfer
        || (this instanceof UpdateFields o
            && o.updates.size() == 1
            && o.updates.getFirst().operation.isSum())
        || (this instanceof WithPartDeadlines o && o.update.isSum());
  }

  /** Whether it is for all that a key holds, whatever object it is sent for. */
  default boolean isOfKey() {
    return this instanceof Delete || this instanceof Expire || this instanceof Persist;
  }

  /** Whether it makes values anew that are there: it costs their sizes, not its own. */
  default boolean rewrites() {
    return switch (this) {
      case Append o -> true;
      case SetRange o -> true;
      case SetBit o -> true;
      case UpdateFields o -> o.updates.stream().anyMatch(update -> update.operation.rewrites());
      case WithDeadline o -> o.update.rewrites();
      case WithPartDeadlines o -> o.update.rewrites();
      default -> false;
    };
  }

  /** Whether it gives an object a deadline. */
  default boolean givesDeadline() {
    return this instanceof Expire || this instanceof WithDeadline;
  }

  /** Whether it gives parts of an object deadlines, or takes theirs. */
  default boolean givesPartDeadlines() {
    return this instanceof ExpireParts
        || this instanceof PersistParts
        || this instanceof WithPartDeadlines;
  }

  /** The same with the time at which a duration ends that it gives. */
  default Operation from(long nowMillis) {
    return this;
  }

  /** What stands for the type where an operation is of a key. */
  CrdtType ANY_TYPE = CrdtType.OR_MAP;

  /** What this takes in the heap, about, in bytes: O(its parts). */
  default long heapBytes() {
    return OperationHeap.bytes(this);
  }

  /** Adds to a counter or a whole number in a string; to a grow-only counter at least 0. */
  record Increment(long amount) implements Operation {}

  /** Assigns a register or a string. */
  record Assign(Value value) implements Operation {
    public Assign {
      Present.present(value, "a value");
    }
  }

  /** Appends to a string; one that is not there is empty. */
  record Append(Value value) implements Operation {
    public Append {
      Present.present(value, "a value");
    }
  }

  /**
   * Overwrites bytes of a string, which becomes longer where it must, with zeros in a gap. As an
   * {@link Append}, it is an assignment of what comes out at the datacenter that does it.
   *
   * @param offset of the first byte, at least 0
   */
  record SetRange(long offset, Value value) implements Operation {
    public SetRange {
      checkOffset(offset);
      Present.present(value, "a value");
    }
  }

  /**
   * Sets or clears a bit of a string, as {@link SetRange} does with bytes.
   *
   * @param offset at least 0; the first bit is the highest one of the first byte
   */
  record SetBit(long offset, boolean on) implements Operation {
    public SetBit {
      checkOffset(offset);
    }
  }

  private static void checkOffset(long offset) {
    if (offset < 0) {
      throw OsierException.of(ErrorCode.INVALID_ARGUMENT, "an offset is at least 0, not " + offset);
    }
  }

  /**
   * Adds a decimal number to a string, exactly.
   *
   * @param amount in the range of a long, with at most {@value DecimalAmount#PLACES_MAX} digits
   *     behind the point
   */
  record IncrementDecimal(BigDecimal amount) implements Operation {
    public IncrementDecimal {
      amount = DecimalAmount.checked(amount);
    }
  }

  record SetFlag(boolean enabled) implements Operation {}

  /** Adds elements to a set; adding one that is there renews it. */
  record Add(List<Value> elements) implements Operation {
    public Add {
      elements = Present.copyOf(elements, "an element");
    }

    public Add(Value element) {
      this(List.of(Present.present(element, "an element")));
    }
  }

  /** Removes elements from a set, as far as they are seen; not for a grow-only set. */
  record Remove(List<Value> elements) implements Operation {
    public Remove {
      elements = Present.copyOf(elements, "an element");
    }

    public Remove(Value element) {
      this(List.of(Present.present(element, "an element")));
    }
  }

  /** Updates fields of a map, in order. */
  record UpdateFields(List<FieldUpdate> updates) implements Operation {
    public UpdateFields {
      updates = Present.copyOf(updates, "a field's update");
    }

    public UpdateFields(FieldId field, Operation operation) {
      this(List.of(new FieldUpdate(field, operation)));
    }

    @Override
    public List<Operation> parts() {
      List<Operation> parts = new ArrayList<>();
      for (FieldUpdate update : updates) {
        for (Operation part : update.operation.parts()) {
          parts.add(new UpdateFields(update.field, part));
        }
      }
      return parts.isEmpty() ? List.of(this) : parts;
    }
  }

  /**
   * One field's update.
   *
   * @param field the field, created if it is absent
   * @param operation an operation of the field's type
   */
  record FieldUpdate(FieldId field, Operation operation) {
    public FieldUpdate {
      Present.present(field, "a field");
      Present.present(operation, "an operation");
    }
  }

  /** Removes fields of a map, of whatever type, which resets what was seen of them. */
  record RemoveFields(List<String> names) implements Operation {
    public RemoveFields {
      names = Present.copyOf(names, "a field's name");
    }
  }

  /**
   * Creates a bounded counter, or widens its bounds.
   *
   * @param lower at most {@code first}; {@link BoundedCounter#NO_LOWER} for none
   * @param upper at least {@code first}; {@link BoundedCounter#NO_UPPER} for none
   * @param sharers the datacenters among whom the first rights are divided; the datacenter fills it
   *     in
   * @param first what the counter starts at; of one that is there already it says nothing
   */
  record Bound(long lower, long upper, List<String> sharers, long first) implements Operation {
    public Bound {
      sharers = List.copyOf(sharers);
    }

    /** One that starts at 0. */
    public Bound(long lower, long upper, List<String> sharers) {
      this(lower, upper, sharers, 0);
    }
  }

  /**
   * Adds to a bounded counter, and waits for rights if there are not enough.
   *
   * @param waitMillis how long, at least 0; within a transaction it does not wait
   */
  record IncrementWithin(long amount, int waitMillis) implements Operation {}

  /**
   * Gives rights of a bounded counter to another datacenter.
   *
   * @param to its name
   * @param upward whether rights to add; otherwise to subtract
   */
  record Transfer(String to, long amount, boolean upward) implements Operation {
    public Transfer {
      Present.present(to, "a datacenter's name");
    }
  }

  /**
   * Takes over all rights of a bounded counter that a datacenter has which was given up for dead.
   * Only a datacenter that knows all that the dead one did makes this; in a request it is refused.
   *
   * @param from the dead one's name
   */
  record Inherit(String from) implements Operation {
    public Inherit {
      Present.present(from, "a datacenter's name");
    }
  }

  /** Resets the object to a new one, as far as it was seen: what was concurrent stays. */
  record Clear() implements Operation {}

  /**
   * Removes all objects of a key, of whatever types, as far as they were seen: what was concurrent
   * stays. Bounded counters cannot be removed.
   */
  record Delete() implements Operation {}

  /**
   * Gives all objects that a key holds a deadline, in the place of the one that they had. Of
   * concurrent ones the latest counts.
   *
   * @param millis a time, in milliseconds since 1970, or a duration; one that is not positive, or
   *     has passed, lets them expire at once
   * @param fromNow whether it is a duration, from the moment of the update by the datacenter's
   *     clock
   */
  record Expire(long millis, boolean fromNow) implements Operation {
    /** Latest time and longest duration: about the end of the year 9999. */
    public static final long MILLIS_MAX = 253_402_300_799_999L;

    @Override
    public Expire from(long nowMillis) {
      return new Expire(
          Math.clamp(fromNow ? nowMillis + millis : millis, 0, Long.MAX_VALUE - 1),
          false); // never is larger
    }
  }

  /**
   * Updates an object and gives it a deadline, in the place of the one that it had, as one update:
   * nobody sees the one without the other. What the update leaves empty gets none.
   *
   * @param update one of an object as a whole, which gives no deadline itself; not of a bounded
   *     counter
   */
  record WithDeadline(Operation update, Expire deadline) implements Operation {
    public WithDeadline {
      Present.present(update, "an update");
      Present.present(deadline, "a deadline");
    }

    @Override
    public List<Operation> parts() {
      List<Operation> parts = new ArrayList<>(update.parts());
      parts.add(deadline);
      return parts;
    }

    @Override
    public WithDeadline from(long nowMillis) {
      return new WithDeadline(update, deadline.from(nowMillis));
    }
  }

  /**
   * Takes the deadlines of all objects away that a key holds, and wins against concurrent ones.
   * Nothing changes where there are none.
   */
  record Persist() implements Operation {}

  /**
   * Gives parts of an object a deadline, those that are there, in the place of the one that they
   * had. Of concurrent ones the latest counts; an update of a part does not change its deadline.
   *
   * @param of elements of a set, or fields of a map; not of what is nested in one
   */
  record ExpireParts(List<Part> of, Expire deadline) implements Operation {
    public ExpireParts {
      of = Present.copyOf(of, "a part");
      Present.present(deadline, "a deadline");
    }

    @Override
    public ExpireParts from(long nowMillis) {
      return new ExpireParts(of, deadline.from(nowMillis));
    }
  }

  /**
   * Takes the deadlines of parts away, and wins against concurrent ones. Nothing changes where
   * there are none.
   */
  record PersistParts(List<Part> of) implements Operation {
    public PersistParts {
      of = Present.copyOf(of, "a part");
    }
  }

  /**
   * Adds elements to a set, or updates fields of a map, and gives those a deadline, as one update.
   * What the update leaves empty gets none.
   *
   * @param update an {@link Add} or {@link UpdateFields}
   */
  record WithPartDeadlines(Operation update, Expire deadline) implements Operation {
    public WithPartDeadlines {
      Present.present(update, "an update");
      Present.present(deadline, "a deadline");
    }

    @Override
    public List<Operation> parts() {
      return update.parts().stream()
          .map(part -> (Operation) new WithPartDeadlines(part, deadline))
          .toList();
    }

    @Override
    public WithPartDeadlines from(long nowMillis) {
      return new WithPartDeadlines(update, deadline.from(nowMillis));
    }
  }
}
