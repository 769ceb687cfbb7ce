package io.osier.crdt.expiry;

import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.memory.HeapSize;
import io.osier.crdt.DotFun;
import io.osier.crdt.UpdateContext;

/**
 * A register of the deadlines of an object or of a part of one: of concurrent ones the latest
 * counts, and the next one replaces those that it saw. Immutable; for any thread.
 */
public final class DeadlineRegister {
  /** The deadline of an object or part that does not expire. */
  public static final long NEVER = Long.MAX_VALUE;

  /** The register of an object or part that has not been given a deadline. */
  public static final DeadlineRegister NONE = new DeadlineRegister(DotFun.empty());

  private final DotFun<Long> deadlines;

  private DeadlineRegister(DotFun<Long> deadlines) {
    this.deadlines = deadlines;
  }

  private static DeadlineRegister of(DotFun<Long> deadlines) {
    return deadlines.isEmpty() ? NONE : new DeadlineRegister(deadlines);
  }

  /** Whether there is no deadline, not even one that never comes. */
  boolean isNone() {
    return deadlines.isEmpty();
  }

  /** Returns the latest deadline, in milliseconds since 1970; {@link #NEVER} if there is none. */
  public long latest() {
    return isNone() ? NEVER : deadlines.value(latestAt());
  }

  /** Returns the dot of the update that gave the latest deadline; there must be one. */
  Dot latestDot() {
    return deadlines.dot(latestAt());
  }

  private int latestAt() {
    int latest = 0;
    for (int i = 1; i < deadlines.size(); i++) {
      if (deadlines.value(i) > deadlines.value(latest)) {
        latest = i;
      }
    }
    return latest;
  }

  /** Prepares a deadline that replaces these. */
  public DeadlineRegister replaced(long deadline, UpdateContext preparation) {
    supersede(preparation);
    return new DeadlineRegister(DotFun.of(preparation.nextDot(), deadline));
  }

  /** Notes that an update removes these. */
  public void supersede(UpdateContext preparation) {
    deadlines.supersede(preparation);
  }

  DeadlineRegister join(DeadlineRegister other, CausalContext mine, CausalContext theirs) {
    return isNone() && other.isNone() ? NONE : of(deadlines.join(other.deadlines, mine, theirs));
  }

  long sizeBytes() {
    return deadlines.sizeBytes(d -> 8);
  }

  long heapBytes() {
    return isNone()
        ? 0
        : HeapSize.object(HeapSize.REFERENCE)
            + deadlines.heapBytes(d -> HeapSize.object(Long.BYTES));
  }

  void write(WireOutput out) {
    deadlines.write(out, WireOutput::writeNumber);
  }

  /** Reads what {@link #write} wrote. */
  static DeadlineRegister read(WireInput in) {
    return of(DotFun.read(in, WireInput::readNumber));
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof DeadlineRegister d && deadlines.equals(d.deadlines);
  }

  @Override
  public int hashCode() {
    return deadlines.hashCode();
  }

  @Override
  public String toString() {
    return deadlines.toString();
  }
}
