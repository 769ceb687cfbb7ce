package io.osier.crdt.types;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.memory.HeapSize;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DotStore;
import io.osier.crdt.JoinContext;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.UpdateContext;
import io.osier.crdt.types.CounterSlots.Slot;
import org.jspecify.annotations.Nullable;

/**
 * A counter made of {@link CounterSlots}: one that goes up and down, or one that only goes up,
 * which writes no sums of decrements.
 */
public final class Counter implements DotStore<Counter> {
  /** A new counter that goes up and down: 0. */
  public static final Counter EMPTY_PN = new Counter(CrdtType.PN_COUNTER, CounterSlots.EMPTY);

  /** A new counter that only goes up: 0. */
  public static final Counter EMPTY_G = new Counter(CrdtType.G_COUNTER, CounterSlots.EMPTY);

  private final CrdtType type;
  private final CounterSlots slots;

  private Counter(CrdtType type, CounterSlots slots) {
    this.type = type;
    this.slots = slots;
  }

  @Override
  public CrdtType type() {
    return type;
  }

  private static boolean goesDown(CrdtType type) {
    return type == CrdtType.PN_COUNTER;
  }

  /** Returns the value; the least or greatest long where replicas together leave its range. */
  public long value() {
    long value = 0;
    for (Slot s : slots.slots) {
      if (!s.isReset()) {
        value = saturatedSum(value, (s.up() - s.baseUp()) - (s.down() - s.baseDown()));
      }
    }
    return value;
  }

  static long saturatedSum(long a, long b) {
    long sum = a + b;
    if (((a ^ sum) & (b ^ sum)) < 0) {
      return b > 0 ? Long.MAX_VALUE : Long.MIN_VALUE;
    }
    return sum;
  }

  @Override
  public Counter prepare(Operation operation, UpdateContext preparation) {
    if (!(operation instanceof Operation.Increment increment)) {
      throw wrongOperation(operation);
    }
    long amount = increment.amount();
    if (amount < 0 && !goesDown(type)) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "a " + type + " only goes up: the amount must be at least 0, not " + amount);
    }
    long value = value();
    try {
      Math.addExact(value, amount);
    } catch (ArithmeticException e) {
      throw OsierException.of(
          ErrorCode.OVERFLOW, "adding " + amount + " to " + value + " leaves the range of a long");
    }
    Slot own = slots.own(preparation, false);
    return new Counter(
        type,
        CounterSlots.of(
            own.with(
                preparation.nextDot().number(),
                amount > 0 ? grown(own.up(), amount, "added") : own.up(),
                amount < 0 ? grown(own.down(), amount, "subtracted") : own.down())));
  }

  /**
   * Adds to one of the two sums, of increments and of decrements, which only grow: a reset
   * subtracts them again.
   */
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

  @Override
  public Counter reset(UpdateContext preparation) {
    return new Counter(type, slots.reset());
  }

  @Override
  public Counter join(Counter other, JoinContext joining) {
    return new Counter(type, slots.join(other.slots, joining));
  }

  @Override
  public Reading read(Query query) {
    if (!(query instanceof Query.Whole)) {
      throw wrongQuery(query);
    }
    return new Reading.Count(value());
  }

  @Override
  public boolean isBottom() {
    return slots.isReset();
  }

  @Override
  public boolean isEmpty() {
    return slots.isEmpty();
  }

  @Override
  public boolean isTrimmedEmpty() {
    return slots.isReset();
  }

  @Override
  public Counter trimmed() {
    return new Counter(type, slots.trimmed());
  }

  @Override
  public long heapBytes() {
    return HeapSize.object(2 * HeapSize.REFERENCE) + slots.heapBytes();
  }

  @Override
  public long sizeBytes() {
    return slots.sizeBytes();
  }

  @Override
  public void write(WireOutput out) {
    out.writeCount(slots.slots.length);
    for (Slot s : slots.slots) {
      out.writeReplica(s.replica());
      out.writeNumber(s.last());
      write(out, s.up(), s.down());
      out.writeNumber(s.base());
      if (s.base() != 0) {
        write(out, s.baseUp(), s.baseDown());
      }
    }
  }

  private void write(WireOutput out, long up, long down) {
    out.writeNumber(up);
    if (goesDown(type)) {
      out.writeNumber(down);
    }
  }

  /** Reads the form that {@link #write} produces, into a counter of this type. */
  Counter read(WireInput in) {
    return new Counter(
        type, CounterSlots.read(in, bytesMin(type), some -> readSlot(some, goesDown(type))));
  }

  private static int bytesMin(CrdtType type) {
    return goesDown(type) ? 5 : 4;
  }

  private static Slot readSlot(WireInput in, boolean withDown) {
    ReplicaId replica = in.readReplica();
    long last = in.readNumber();
    long up = in.readNumber();
    long down = withDown ? in.readNumber() : 0;
    long base = in.readNumber();
    long baseUp = base != 0 ? in.readNumber() : 0;
    long baseDown = base != 0 && withDown ? in.readNumber() : 0;
    return new Slot(replica, last, up, down, base, baseUp, baseDown);
  }

  /** See {@link TypeRegistry#readValue}. */
  static Reading.@Nullable Count readValue(WireInput in, CrdtType type) {
    long value = 0;
    boolean isReset = true;
    ReplicaId before = null;
    for (int n = in.readCount(bytesMin(type)); n > 0; n--) {
      Slot s = readSlot(in, goesDown(type));
      CounterSlots.checkOrder(before, s.replica());
      before = s.replica();
      if (!s.isReset()) {
        value = saturatedSum(value, (s.up() - s.baseUp()) - (s.down() - s.baseDown()));
        isReset = false;
      }
    }
    return isReset ? null : new Reading.Count(value);
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof Counter c && type == c.type && slots.equals(c.slots);
  }

  @Override
  public int hashCode() {
    return slots.hashCode();
  }

  @Override
  public String toString() {
    return value() + slots.toString();
  }
}
