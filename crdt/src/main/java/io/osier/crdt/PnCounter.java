package io.osier.crdt;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.Arrays;

/**
 * A counter that goes up and down. Why is an increment not lost when the counter is reset at the
 * same time elsewhere? Because a reset subtracts exactly what it saw.
 *
 * <p>Each replica owns one slot: the sum of its own increments and of its own decrements as of its
 * last update's commit number. Later slots of a replica contain its earlier ones, so the join is
 * the later one (Shapiro and others, "A comprehensive study of Convergent and Commutative
 * Replicated Data Types", 2011, Spec. 7). A reset records, in the slot's base, the sums that it
 * saw; the value is the sum of slots minus bases. Bases of one replica are ordered like its slots.
 * The join of both needs no causal context, so it is commutative, associative and idempotent as a
 * product of chains.
 */
public final class PnCounter implements DotStore<PnCounter> {
  /** A new counter: 0. */
  public static final PnCounter EMPTY = new PnCounter(new Slot[0]);

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
      Slot wider = other.base > base ? other : this;
      return later == wider
          ? later
          : new Slot(
              replica, later.last, later.up, later.down, wider.base, wider.baseUp, wider.baseDown);
    }

    boolean isReset() {
      return base >= last;
    }
  }

  /** Sorted by replica; a handful, so an array. */
  private final Slot[] slots;

  private PnCounter(Slot[] slots) {
    this.slots = slots;
  }

  @Override
  public CrdtType type() {
    return CrdtType.PN_COUNTER;
  }

  /** The current value; held at the ends of a long's range where replicas together leave it. */
  public long value() {
    long value = 0;
    for (Slot s : slots) {
      long part = s.isReset() ? 0 : (s.up - s.baseUp) - (s.down - s.baseDown);
      long sum = value + part;
      value =
          ((value ^ sum) & (part ^ sum)) < 0 ? (part > 0 ? Long.MAX_VALUE : Long.MIN_VALUE) : sum;
    }
    return value;
  }

  private Slot slot(ReplicaId replica) {
    for (Slot s : slots) {
      if (s.replica.equals(replica)) {
        return s;
      }
    }
    return new Slot(replica, 0, 0, 0, 0, 0, 0);
  }

  @Override
  public PnCounter prepare(Operation operation, Preparation preparation) {
    if (!(operation instanceof Operation.Increment increment)) {
      throw Stores.wrongOperation(type(), operation);
    }
    long amount = increment.amount();
    Slot s = slot(preparation.dot().replica());
    try {
      Math.addExact(value(), amount);
      return new PnCounter(
          new Slot[] {
            new Slot(
                s.replica,
                preparation.dot().number(),
                amount > 0 ? Math.addExact(s.up, amount) : s.up,
                amount < 0 ? Math.subtractExact(s.down, amount) : s.down,
                s.base,
                s.baseUp,
                s.baseDown)
          });
    } catch (ArithmeticException e) {
      throw new OsierException(
          ErrorCode.OVERFLOW,
          "adding " + amount + " to " + value() + " leaves the range of a long");
    }
  }

  @Override
  public PnCounter reset(Preparation preparation) {
    return new PnCounter(
        Arrays.stream(slots)
            .filter(s -> !s.isReset())
            .map(s -> new Slot(s.replica, s.last, s.up, s.down, s.last, s.up, s.down))
            .toArray(Slot[]::new));
  }

  @Override
  public PnCounter join(PnCounter other, Joining joining) {
    Slot[] out = new Slot[slots.length + other.slots.length];
    int size = 0;
    int i = 0;
    int j = 0;
    while (i < slots.length || j < other.slots.length) {
      int order =
          i == slots.length
              ? 1
              : j == other.slots.length ? -1 : slots[i].replica.compareTo(other.slots[j].replica);
      out[size++] =
          order < 0 ? slots[i++] : order > 0 ? other.slots[j++] : slots[i++].join(other.slots[j++]);
    }
    return new PnCounter(Arrays.copyOf(out, size));
  }

  @Override
  public Reading read(Query query) {
    if (!(query instanceof Query.Whole)) {
      throw Stores.wrongQuery(type(), query);
    }
    return new Reading.Count(value());
  }

  @Override
  public boolean isBottom() {
    return Arrays.stream(slots).allMatch(Slot::isReset);
  }

  @Override
  public long sizeBytes() {
    return 1 + 9L * slots.length;
  }

  @Override
  public void write(WireOutput out) {
    out.writeCount(slots.length);
    for (Slot s : slots) {
      out.writeReplica(s.replica);
      out.writeNumber(s.last);
      out.writeNumber(s.up);
      out.writeNumber(s.down);
      out.writeNumber(s.base);
      if (s.base != 0) {
        out.writeNumber(s.baseUp);
        out.writeNumber(s.baseDown);
      }
    }
  }

  /** Reads what {@link #write} wrote. */
  static PnCounter read(WireInput in) {
    Slot[] slots = new Slot[in.readCount(5)];
    for (int i = 0; i < slots.length; i++) {
      ReplicaId replica = in.readReplica();
      long last = in.readNumber();
      long up = in.readNumber();
      long down = in.readNumber();
      long base = in.readNumber();
      slots[i] =
          new Slot(
              replica,
              last,
              up,
              down,
              base,
              base == 0 ? 0 : in.readNumber(),
              base == 0 ? 0 : in.readNumber());
    }
    Arrays.sort(slots, (a, b) -> a.replica.compareTo(b.replica));
    return new PnCounter(slots);
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof PnCounter c && Arrays.equals(slots, c.slots);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(slots);
  }

  @Override
  public String toString() {
    return value() + Arrays.toString(slots);
  }
}
