package io.osier.crdt.types;

import io.osier.core.CausalContext;
import io.osier.core.ErrorCode;
import io.osier.core.HeapSize;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.JoinContext;
import io.osier.crdt.Reading;
import io.osier.crdt.UpdateContext;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What both counters are made of, and what is added to strings. Why is an increment not lost when
 * the counter is reset at the same time elsewhere? Because a reset subtracts exactly what it saw.
 *
 * <p>Each replica owns one slot: the sums of its own increments and decrements as of its last
 * update's commit number. A replica's later slot contains its earlier ones, so the join is the
 * later one (Shapiro and others, "A comprehensive study of Convergent and Commutative Replicated
 * Data Types", 2011). A reset records, as the slot's base, the sums that it saw; the value is the
 * sum of slots minus bases. Bases of one replica are ordered like its slots. The join is
 * commutative, associative and idempotent as a product of chains.
 *
 * <p>When every datacenter has seen a reset, its slots may be forgotten, at each at another time. A
 * replica that has forgotten its slot starts from no sums again, and says so with a base of no sums
 * right before its first new update: any base of the forgotten slot is older than that.
 */
final class CounterSlots {
  static final CounterSlots EMPTY = new CounterSlots(new Slot[0]);

  /**
   * One replica's sums.
   *
   * @param last commit number of its last update here; 0 if only the base is known
   * @param base commit number of its last update that a reset saw; 0 if none
   */
  private record Slot(
      ReplicaId replica, long last, long up, long down, long base, long baseUp, long baseDown) {

    Slot join(Slot other) {
      Slot later = other.last > last ? other : this;
      Slot wider = other.isWider(this) ? other : this;
      return later == wider
          ? later
          : new Slot(
              replica, later.last, later.up, later.down, wider.base, wider.baseUp, wider.baseDown);
    }

    /**
     * At the same number, the base that starts anew, at zero: it was set after what the other one
     * saw.
     */
    private boolean isWider(Slot other) {
      if (base != other.base) {
        return base > other.base;
      }
      int order = Long.compareUnsigned(baseUp, other.baseUp);
      return order < 0 || (order == 0 && baseDown < other.baseDown);
    }

    boolean isReset() {
      return base >= last;
    }

    boolean isSeen(CausalContext context) {
      return context.contains(replica, Math.max(last, base));
    }
  }

  /** Sorted by replica; a handful, so an array. */
  private final Slot[] slots;

  private CounterSlots(Slot[] slots) {
    this.slots = slots;
  }

  /** The sum; held at the ends of a long's range where replicas together leave it. */
  long value() {
    long value = 0;
    for (Slot s : slots) {
      if (!s.isReset()) {
        value = saturatedSum(value, (s.up - s.baseUp) - (s.down - s.baseDown));
      }
    }
    return value;
  }

  private static long saturatedSum(long a, long b) {
    long sum = a + b;
    if (((a ^ sum) & (b ^ sum)) < 0) {
      return b > 0 ? Long.MAX_VALUE : Long.MIN_VALUE;
    }
    return sum;
  }

  /** The delta of an increment (or, if negative, a decrement). */
  CounterSlots add(long amount, UpdateContext preparation) {
    ReplicaId replica = preparation.origin();
    // A base of no sums voids the bases of a slot that was forgotten here and may not be elsewhere.
    Slot s = new Slot(replica, 0, 0, 0, preparation.forgotten(), 0, 0);
    for (Slot known : slots) {
      s = known.replica.equals(replica) ? known : s;
    }
    long value = value();
    try {
      Math.addExact(value, amount);
    } catch (ArithmeticException e) {
      throw OsierException.of(
          ErrorCode.OVERFLOW, "adding " + amount + " to " + value + " leaves the range of a long");
    }
    return new CounterSlots(
        new Slot[] {
          new Slot(
              replica,
              preparation.nextDot().number(),
              amount > 0 ? grown(s.up, amount, "added") : s.up,
              amount < 0 ? grown(s.down, amount, "subtracted") : s.down,
              s.base,
              s.baseUp,
              s.baseDown)
        });
  }

  // ---------------------------------------------------------------- sums of strings

  /*
   * In a string's slots the first number is the whole part of a sum, which may be negative, and the
   * second one the rest, in parts of 10^-18, at least 0 and less than one.
   */

  /** The parts of which one makes a whole. */
  static final long ONE = 1_000_000_000_000_000_000L;

  private static final int PLACES = 18;

  /** Whether no sum has a fraction. */
  boolean isWhole() {
    for (Slot s : slots) {
      if (!s.isReset() && s.down != s.baseDown) {
        return false;
      }
    }
    return true;
  }

  /** The sum of what is whole and a number; empty if that leaves the range of a long. */
  Optional<Long> wholePlus(long number) {
    try {
      long sum = number;
      for (Slot s : slots) {
        sum = s.isReset() ? sum : Math.addExact(sum, Math.subtractExact(s.up, s.baseUp));
      }
      return Optional.of(sum);
    } catch (ArithmeticException e) {
      return Optional.empty();
    }
  }

  /** The sum with its fraction. */
  BigDecimal decimal() {
    BigDecimal sum = BigDecimal.ZERO;
    for (Slot s : slots) {
      if (!s.isReset()) {
        sum =
            sum.add(BigDecimal.valueOf(s.up))
                .subtract(BigDecimal.valueOf(s.baseUp))
                .add(BigDecimal.valueOf(s.down - s.baseDown, PLACES));
      }
    }
    return sum;
  }

  /**
   * The delta of an addition to a string. A sum of this replica of which nothing counts any more
   * begins anew, as one that was forgotten.
   *
   * @param fraction less than {@link #ONE}
   */
  CounterSlots addTo(long whole, long fraction, UpdateContext preparation) {
    ReplicaId replica = preparation.origin();
    Slot s = new Slot(replica, 0, 0, 0, preparation.forgotten(), 0, 0);
    for (Slot known : slots) {
      s = known.replica.equals(replica) && !known.isReset() ? known : s;
    }
    long parts = s.down + fraction;
    long up;
    try {
      up = Math.addExact(Math.addExact(s.up, whole), parts / ONE);
    } catch (ArithmeticException e) {
      throw new OsierException(
          ErrorCode.OVERFLOW,
          "adding "
              + whole
              + " is too much: all that was added here since the last assignment is "
              + s.up
              + ", and must stay in the range of a long, too; assign the sum instead");
    }
    return new CounterSlots(
        new Slot[] {
          new Slot(
              replica,
              preparation.nextDot().number(),
              up,
              parts % ONE,
              s.base,
              s.baseUp,
              s.baseDown)
        });
  }

  /** Writes the slots of a string; those whose sums are whole, as most, without a fraction. */
  void writeSums(WireOutput out) {
    out.writeCount(slots.length);
    for (Slot s : slots) {
      out.writeReplica(s.replica);
      out.writeNumber(s.last);
      writeSum(out, s.up, s.down);
      out.writeNumber(s.base);
      if (s.base != 0) {
        writeSum(out, s.baseUp, s.baseDown);
      }
    }
  }

  private static void writeSum(WireOutput out, long whole, long fraction) {
    out.writeNumber(fraction);
    out.writeSigned(whole);
  }

  static CounterSlots readSums(WireInput in) {
    int size = in.readCount(5);
    if (size == 0) {
      return EMPTY;
    }
    Slot[] slots = new Slot[size];
    for (int i = 0; i < size; i++) {
      ReplicaId replica = in.readReplica();
      long last = in.readNumber();
      long fraction = readFraction(in);
      long whole = in.readSigned();
      long base = in.readNumber();
      long baseFraction = base == 0 ? 0 : readFraction(in);
      long baseWhole = base == 0 ? 0 : in.readSigned();
      slots[i] = new Slot(replica, last, whole, fraction, base, baseWhole, baseFraction);
      checkOrder(i == 0 ? null : slots[i - 1].replica, replica);
    }
    return new CounterSlots(slots);
  }

  private static long readFraction(WireInput in) {
    long fraction = in.readNumber();
    if (fraction >= ONE) {
      throw new MalformedException("a fraction of " + fraction + " parts is more than one");
    }
    return fraction;
  }

  private static void checkOrder(@Nullable ReplicaId before, ReplicaId replica) {
    if (before != null && before.compareTo(replica) >= 0) {
      throw new MalformedException("a counter's slots are not in order");
    }
  }

  // ---------------------------------------------------------------- sums of counters

  /** Of what goes up and what goes down there is a sum each, which a reset subtracts again. */
  private static long grown(long sum, long amount, String how) {
    try {
      return amount > 0 ? Math.addExact(sum, amount) : Math.subtractExact(sum, amount);
    } catch (ArithmeticException e) {
      throw OsierException.of(
          ErrorCode.OVERFLOW,
          ("adding %d is too much: the sum of all that was ever %s here is %d, and must stay in the"
                  + " range of a long, too; go on with a counter of another key")
              .formatted(amount, how, sum));
    }
  }

  /** The delta of a reset of all that is seen. */
  CounterSlots reset() {
    return new CounterSlots(
        Arrays.stream(slots)
            .filter(s -> !s.isReset())
            .map(s -> new Slot(s.replica, s.last, s.up, s.down, s.last, s.up, s.down))
            .toArray(Slot[]::new));
  }

  /**
   * The join. A slot that only one side has, though the other is a state that has seen it, was
   * forgotten there: every datacenter had its reset.
   */
  CounterSlots join(CounterSlots other, JoinContext joining) {
    if (other.slots.length == 1 && !joining.rightFull()) {
      CounterSlots joined = joinOne(other.slots[0]);
      if (joined != null) {
        return joined;
      }
    }
    Slot[] out = new Slot[slots.length + other.slots.length];
    int size = 0;
    int i = 0;
    int j = 0;
    while (i < slots.length || j < other.slots.length) {
      int order =
          i == slots.length
              ? 1
              : j == other.slots.length ? -1 : slots[i].replica.compareTo(other.slots[j].replica);
      if (order < 0) {
        Slot s = slots[i++];
        if (!(joining.rightFull() && s.isSeen(joining.right()))) {
          out[size++] = s;
        }
      } else if (order > 0) {
        Slot s = other.slots[j++];
        if (!(joining.leftFull() && s.isSeen(joining.left()))) {
          out[size++] = s;
        }
      } else {
        out[size++] = slots[i++].join(other.slots[j++]);
      }
    }
    return new CounterSlots(Arrays.copyOf(out, size));
  }

  /** The join of a delta of one slot that is here: by far the most are; null if it is not. */
  private @Nullable CounterSlots joinOne(Slot other) {
    for (int i = 0; i < slots.length; i++) {
      if (slots[i].replica.equals(other.replica)) {
        Slot[] out = slots.clone();
        out[i] = slots[i].join(other);
        return new CounterSlots(out);
      }
    }
    return null;
  }

  /** Without the slots of which nothing counts. */
  CounterSlots trimmed() {
    return new CounterSlots(Arrays.stream(slots).filter(s -> !s.isReset()).toArray(Slot[]::new));
  }

  /** Whether nothing was added since the last reset. */
  boolean isReset() {
    for (Slot s : slots) { // no stream: every update asks
      if (!s.isReset()) {
        return false;
      }
    }
    return true;
  }

  boolean isEmpty() {
    return slots.length == 0;
  }

  long heapBytes() {
    return slots.length == 0
        ? 0
        : HeapSize.object(HeapSize.REFERENCE)
            + HeapSize.array(slots.length, HeapSize.REFERENCE)
            + slots.length * HeapSize.object(HeapSize.REFERENCE + 6 * Long.BYTES);
  }

  long sizeBytes() {
    long bytes = 1;
    for (Slot s : slots) { // a handful, and the sums' lengths differ too much for a flat estimate
      bytes += 1 + length(s.last) + length(s.up) + length(s.down) + length(s.base);
      bytes += s.base == 0 ? 0 : length(s.baseUp) + length(s.baseDown);
    }
    return bytes;
  }

  private static int length(long number) {
    return WireOutput.varLongLength(number, true);
  }

  /** Writes the slots; the sums of decrements only where there may be any. */
  void write(WireOutput out, boolean withDown) {
    out.writeCount(slots.length);
    for (Slot s : slots) {
      out.writeReplica(s.replica);
      out.writeNumber(s.last);
      out.writeNumber(s.up);
      if (withDown) {
        out.writeNumber(s.down);
      }
      out.writeNumber(s.base);
      if (s.base != 0) {
        out.writeNumber(s.baseUp);
        if (withDown) {
          out.writeNumber(s.baseDown);
        }
      }
    }
  }

  static CounterSlots read(WireInput in, boolean withDown) {
    Slot[] slots = new Slot[in.readCount(withDown ? 5 : 4)];
    for (int i = 0; i < slots.length; i++) {
      ReplicaId replica = in.readReplica();
      long last = in.readNumber();
      long up = in.readNumber();
      long down = withDown ? in.readNumber() : 0;
      long base = in.readNumber();
      long baseUp = base != 0 ? in.readNumber() : 0;
      long baseDown = base != 0 && withDown ? in.readNumber() : 0;
      slots[i] = new Slot(replica, last, up, down, base, baseUp, baseDown);
      checkOrder(i == 0 ? null : slots[i - 1].replica, replica);
    }
    return slots.length == 0 ? EMPTY : new CounterSlots(slots);
  }

  /** See {@link TypeRegistry#readValue}. */
  static Reading.@Nullable Count readValue(WireInput in, boolean withDown) {
    long value = 0;
    boolean isReset = true;
    ReplicaId before = null;
    for (int n = in.readCount(withDown ? 5 : 4); n > 0; n--) {
      ReplicaId replica = in.readReplica();
      long last = in.readNumber();
      long up = in.readNumber();
      long down = withDown ? in.readNumber() : 0;
      long base = in.readNumber();
      long baseUp = base != 0 ? in.readNumber() : 0;
      long baseDown = base != 0 && withDown ? in.readNumber() : 0;
      checkOrder(before, replica);
      before = replica;
      if (base < last) {
        value = saturatedSum(value, (up - baseUp) - (down - baseDown));
        isReset = false;
      }
    }
    return isReset ? null : new Reading.Count(value);
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof CounterSlots c && Arrays.equals(slots, c.slots);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(slots);
  }

  @Override
  public String toString() {
    Comparator<Slot> order = Comparator.comparing(Slot::replica);
    return value() + Arrays.stream(slots).sorted(order).toList().toString();
  }
}
