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
 * An operation that a client requests on one object. Operations travel from a client to a
 * datacenter; between datacenters travel the deltas that they are prepared into.
 */
public sealed interface Operation {
  /**
   * Returns several operations, each on one object or field, that have the same effect one after
   * the other; more than one only for maps.
   */
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

  /**
   * Whether it is for everything that a key holds: the type of the object that it is sent for means
   * nothing then.
   */
  default boolean isOfKey() {
    return this instanceof Delete || this instanceof Expire || this instanceof Persist;
  }

  /** Whether it rewrites existing values, so that it costs their sizes, not its own. */
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

  /** Whether it gives parts of an object deadlines, or removes theirs. */
  default boolean givesPartDeadlines() {
    return this instanceof ExpireParts
        || this instanceof PersistParts
        || this instanceof WithPartDeadlines;
  }

  /**
   * Returns the same operation with a duration that it gives replaced by the time at which it ends.
   */
  default Operation from(long nowMillis) {
    return this;
  }

  /** The type that is sent with an operation of a key. */
  CrdtType ANY_TYPE = CrdtType.OR_MAP;

  /** Returns about how many bytes this takes in the heap: O(its parts). */
  default long heapBytes() {
    return OperationHeap.bytes(this);
  }

  /**
   * Adds to a counter, or to a string that is a whole number.
   *
   * @param amount for a grow-only counter at least 0
   */
  record Increment(long amount) implements Operation {}

  /** Assigns a register or a string. */
  record Assign(Value value) implements Operation {
    public Assign {
      Present.present(value, "a value");
    }
  }

  /** Appends to a string; one that does not exist counts as empty. */
  record Append(Value value) implements Operation {
    public Append {
      Present.present(value, "a value");
    }
  }

  /**
   * Overwrites bytes of a string, which becomes longer if necessary, with zeros in a gap. Like
   * {@link Append}, it is an assignment of the result at the datacenter that does it.
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

  /** Adds elements to a set; adding an existing one renews it. */
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

  /** Removes fields of a map, of any type, which resets what was seen of them. */
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
   * @param sharers the datacenters among which the first rights are divided; the datacenter that
   *     executes it fills them in
   * @param first the value at which the counter starts; ignored if it exists already
   */
  record Bound(long lower, long upper, List<String> sharers, long first) implements Operation {
    public Bound {
      sharers = List.copyOf(sharers);
    }

    /** Creates one that starts at 0. */
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
   * Takes over all rights of a bounded counter from a datacenter that was given up for dead. Only a
   * datacenter that knows all updates of the dead one makes this; in a request it is refused.
   *
   * @param from the dead one's name
   */
  record Inherit(String from) implements Operation {
    public Inherit {
      Present.present(from, "a datacenter's name");
    }
  }

  /** Resets the object to a new one, as far as it was seen: concurrent updates stay. */
  record Clear() implements Operation {}

  /**
   * Removes all objects of a key, of any type, as far as they were seen: concurrent updates stay.
   * Bounded counters cannot be removed.
   */
  record Delete() implements Operation {}

  /**
   * Gives all objects that a key holds a deadline, in place of their present one. Of concurrent
   * deadlines the latest counts.
   *
   * @param millis a time, in milliseconds since 1970, or a duration; the objects expire at once if
   *     the duration is not positive, or the time has passed
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
          false); // CrdtState.NEVER is larger
    }
  }

  /**
   * Updates an object and gives it a deadline, in place of its present one, as one update: nobody
   * sees one without the other. If the update leaves the object empty, it gets none.
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
   * Removes the deadlines of all objects that a key holds, and wins against concurrent deadlines.
   * Does nothing if there are none.
   */
  record Persist() implements Operation {}

  /**
   * Gives existing parts of an object a deadline, in place of their present one. Of concurrent
   * deadlines the latest counts; an update of a part does not change its deadline.
   *
   * @param of elements of a set, or fields of a map; not parts that are nested in one
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
   * Removes the deadlines of parts, and wins against concurrent deadlines. Does nothing if there
   * are none.
   */
  record PersistParts(List<Part> of) implements Operation {
    public PersistParts {
      of = Present.copyOf(of, "a part");
    }
  }

  /**
   * Adds elements to a set, or updates fields of a map, and gives these a deadline, as one update.
   * Parts that the update leaves empty get none.
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
