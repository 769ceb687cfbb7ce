package io.osier.crdt.types;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.memory.HeapSize;
import io.osier.crdt.Operation;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The bounds of a {@link BoundedCounter}, and how the rights that they give are divided at first.
 *
 * @param room how far the value may rise above the first one; {@link BoundedCounter#NO_UPPER} if
 *     there is no upper bound
 * @param first the first value
 * @param sharers the names of the datacenters among which the first rights are divided, sorted;
 *     none if lists without a common name were joined: then no datacenter has any
 */
record CounterBounds(long lower, long room, long first, List<String> sharers) {
  // The forms that are written; 0 is a counter without bounds.
  private static final int BOUNDS = 1;
  private static final int BOUNDS_AND_FIRST = 2;

  /**
   * Returns the bounds that an operation sets.
   *
   * @param known the present bounds; null for none
   */
  static CounterBounds of(Operation.Bound bound, @Nullable CounterBounds known) {
    check(bound);
    // The first list stays: a right of a datacenter that was added since would belong to another
    // one, too. The first value stays, too: the program that created the counter may have run
    // again.
    List<String> sharers =
        known == null ? bound.sharers().stream().distinct().sorted().toList() : known.sharers;
    long first = known == null ? bound.first() : known.first;
    long room =
        bound.upper() == BoundedCounter.NO_UPPER
            ? BoundedCounter.NO_UPPER
            : roomUpTo(bound.upper(), first);
    return new CounterBounds(Math.min(bound.lower(), first), room, first, sharers);
  }

  private static void check(Operation.Bound bound) {
    long first = bound.first();
    if (bound.lower() > first || bound.upper() < first) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "a bounded counter starts at "
              + first
              + ": its bounds must include it, unlike "
              + bound.lower()
              + " to "
              + bound.upper());
    }
    boolean isTooFar =
        (bound.lower() != BoundedCounter.NO_LOWER && first - bound.lower() < 0)
            || (bound.upper() != BoundedCounter.NO_UPPER && bound.upper() - first < 0);
    if (isTooFar) {
      throw OsierException.of(
          ErrorCode.OVERFLOW,
          "the bounds are too far from the start value "
              + first
              + ": each difference must fit in a long");
    }
    if (bound.sharers().isEmpty()) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "a bounded counter needs at least one datacenter that shares its rights");
    }
  }

  /** Returns the room up to a bound, which may be below the first value of an existing counter. */
  private static long roomUpTo(long upper, long first) {
    return upper <= first ? 0 : Math.min(saturated(upper, first), BoundedCounter.NO_UPPER - 1);
  }

  /** Returns the difference of a larger number and a smaller one; at most the largest long. */
  private static long saturated(long larger, long smaller) {
    long difference = larger - smaller;
    return difference < 0 ? Long.MAX_VALUE : difference;
  }

  long upper() {
    boolean isNone = room == BoundedCounter.NO_UPPER || room > Long.MAX_VALUE - Math.max(0, first);
    return isNone ? BoundedCounter.NO_UPPER : first + room;
  }

  /** Whether it is bounded upward, or downward. */
  boolean isBounded(boolean upward) {
    return upward ? room != BoundedCounter.NO_UPPER : lower != BoundedCounter.NO_LOWER;
  }

  /**
   * Returns a datacenter's share of the rights to add, or to subtract, of a counter that is bounded
   * in that direction; the first datacenters have one more if the rights are not divisible.
   */
  long share(String dc, boolean upward) {
    int i = sharers.indexOf(dc);
    long whole = upward ? room : saturated(first, lower);
    return i < 0 ? 0 : whole / sharers.size() + (i < whole % sharers.size() ? 1 : 0);
  }

  /**
   * Returns the wider bounds. Their rights are divided among the datacenters that are in both
   * lists. Each of them has at least what it had by its own list, so none has used too much; one
   * that is in one list only has joined the others since, and uses nothing before it has heard from
   * them all.
   */
  CounterBounds join(CounterBounds other) {
    List<String> both =
        sharers.equals(other.sharers)
            ? sharers
            : sharers.stream().filter(other.sharers::contains).toList();
    return new CounterBounds(
        Math.min(lower, other.lower),
        Math.max(room, other.room),
        Math.max(first, other.first),
        both);
  }

  long heapBytes() {
    return HeapSize.object(3 * Long.BYTES + HeapSize.REFERENCE) + HeapSize.list(sharers.size());
  }

  long sizeBytes() {
    long bytes = 1L + RightsRow.length(lower) + RightsRow.length(room);
    bytes += first == 0 ? 0 : RightsRow.length(first);
    for (String dc : sharers) {
      bytes += 1 + dc.length();
    }
    return bytes;
  }

  /**
   * Writes bounds.
   *
   * @param bounds null for none
   */
  static void write(@Nullable CounterBounds bounds, WireOutput out) {
    if (bounds == null) {
      out.writeByte(0);
      return;
    }
    out.writeByte(bounds.first == 0 ? BOUNDS : BOUNDS_AND_FIRST);
    out.writeSigned(bounds.lower);
    out.writeSigned(bounds.room);
    if (bounds.first != 0) {
      out.writeSigned(bounds.first);
    }
    out.writeCount(bounds.sharers.size());
    bounds.sharers.forEach(out::writeText);
  }

  /** Reads the form that {@link #write} produces. */
  static @Nullable CounterBounds read(WireInput in) {
    int form = in.readByte();
    if (form < 0 || form > BOUNDS_AND_FIRST) {
      throw new MalformedException("a bounded counter's form must be 0 to 2, not " + form);
    }
    if (form == 0) {
      return null;
    }
    long lower = in.readSigned();
    long room = in.readSigned();
    long first = form == BOUNDS ? 0 : in.readSigned();
    int n = in.readCount(2);
    List<String> sharers = new ArrayList<>(n);
    for (int i = 0; i < n; i++) {
      sharers.add(ReplicaId.checkDcName(in.readText(ReplicaId.DC_NAME_LENGTH_MAX)));
      if (i > 0 && sharers.get(i - 1).compareTo(sharers.get(i)) >= 0) {
        throw new MalformedException("a bounded counter's sharers are not in order");
      }
    }
    if (lower > first || room < 0 || (form == BOUNDS_AND_FIRST && first == 0)) {
      throw new MalformedException("a bounded counter's bounds are out of range");
    }
    return new CounterBounds(lower, room, first, List.copyOf(sharers));
  }
}
