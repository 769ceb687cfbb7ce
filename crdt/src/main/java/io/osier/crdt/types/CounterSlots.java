package io.osier.crdt.types;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.memory.HeapSize;
import io.osier.crdt.JoinContext;
import io.osier.crdt.UpdateContext;
import java.util.Arrays;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The slots of a {@link Counter}, and of the {@link StringSums} on top of strings. Why is an
 * increment not lost when the counter is reset at the same time elsewhere? Because a reset
 * subtracts exactly what it saw.
 *
 * <p>Each replica owns one slot: two sums of its own updates up to the last one's commit number; in
 * a counter those of its increments and its decrements. A replica's later slot contains its earlier
 * ones, so the join is the later one (Shapiro and others, "A comprehensive study of Convergent and
 * Commutative Replicated Data Types", 2011). A reset records, as the slot's base, the sums that it
 * saw; the value is the sum of slots minus bases. Bases of one replica are ordered like its slots.
 * The join is commutative, associative and idempotent as a product of chains.
 *
 * <p>When every datacenter has seen a reset, its slots may be forgotten, by each at its own time. A
 * replica that has forgotten its slot starts with zero sums again, and says so with a base of zero
 * sums right before its first new update: any base of the forgotten slot is older than that.
 */
final class CounterSlots {
  static final CounterSlots EMPTY = new CounterSlots(new Slot[0]);

  /**
   * One replica's sums.
   *
   * @param last the commit number of its last update here; 0 if only the base is known
   * @param base the commit number of its last update that a reset saw; 0 if none
   */
  record Slot(
      ReplicaId replica, long last, long up, long down, long base, long baseUp, long baseDown) {

    /** Returns this with other sums, as of a later update. */
    Slot with(long number, long newUp, long newDown) {
      return new Slot(replica, number, newUp, newDown, base, baseUp, baseDown);
    }

    Slot join(Slot other) {
      Slot later = other.last > last ? other : this;
      Slot wider = other.isWider(this) ? other : this;
      return later == wider
          ? later
          : new Slot(
              replica, later.last, later.up, later.down, wider.base, wider.baseUp, wider.baseDown);
    }

    /**
     * Whether this slot's base is the one to keep. Of two at the same number it is the one that
     * starts again at zero: it was set after the other one.
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

  /** Sorted by replica. There are few, so it is an array; never changed. */
  final Slot[] slots;

  private CounterSlots(Slot... slots) {
    this.slots = slots;
  }

  static CounterSlots of(Slot slot) {
    return new CounterSlots(slot);
  }

  /**
   * Returns the slot of the replica that makes an update; a new one if it has none.
   *
   * @param anew whether a slot that is wholly reset starts again, like one that was forgotten
   */
  Slot own(UpdateContext preparation, boolean anew) {
    // A base of zero sums voids the bases of a slot that was forgotten here and may not be
    // elsewhere.
    long base = preparation.forgotten();
    for (Slot s : slots) {
      if (s.replica.equals(preparation.origin())) {
        if (!anew || !s.isReset()) {
          return s;
        }
        base = Math.max(base, s.base); // the same update may have reset it
      }
    }
    return new Slot(preparation.origin(), 0, 0, 0, base, 0, 0);
  }

  /**
   * Reads slots.
   *
   * @param bytesMin the fewest bytes that one takes
   */
  static CounterSlots read(WireInput in, int bytesMin, Function<WireInput, Slot> reader) {
    int size = in.readCount(bytesMin);
    if (size == 0) {
      return EMPTY;
    }
    Slot[] slots = new Slot[size];
    for (int i = 0; i < size; i++) {
      slots[i] = reader.apply(in);
      checkOrder(i == 0 ? null : slots[i - 1].replica, slots[i].replica);
    }
    return new CounterSlots(slots);
  }

  static void checkOrder(@Nullable ReplicaId before, ReplicaId replica) {
    if (before != null && before.compareTo(replica) >= 0) {
      throw new MalformedException("a counter's slots are not in order");
    }
  }

  /** Returns the delta that resets all sums that are seen. */
  CounterSlots reset() {
    if (isReset()) {
      return EMPTY; // so it is with each assignment of a string that has no sums
    }
    return new CounterSlots(
        Arrays.stream(slots)
            .filter(s -> !s.isReset())
            .map(s -> new Slot(s.replica, s.last, s.up, s.down, s.last, s.up, s.down))
            .toArray(Slot[]::new));
  }

  /**
   * Returns the join. A slot that only one side has, though the other is a state that has seen it,
   * was forgotten there: every datacenter had its reset.
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

  /** Joins a delta of one slot that is here, as nearly all are; returns null if it is not here. */
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

  /** Returns these without the slots that are wholly reset. */
  CounterSlots trimmed() {
    return new CounterSlots(Arrays.stream(slots).filter(s -> !s.isReset()).toArray(Slot[]::new));
  }

  /** Whether nothing was added since the last reset. */
  boolean isReset() {
    for (Slot s : slots) { // no stream: called for every update
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
    for (Slot s : slots) { // few slots, and the sums' lengths differ too much for a flat estimate
      bytes += 1 + length(s.last) + length(s.up) + length(s.down) + length(s.base);
      bytes += s.base == 0 ? 0 : length(s.baseUp) + length(s.baseDown);
    }
    return bytes;
  }

  private static int length(long number) {
    return WireOutput.varLongLength(number, true);
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
    return Arrays.toString(slots);
  }
}
