package io.osier.crdt.expiry;

import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.memory.HeapSize;
import io.osier.crdt.DotStore;
import io.osier.crdt.JoinContext;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.types.EntryStore;
import java.util.List;

/**
 * The deadline of an object, and those of its parts: registers beside its content, in the same
 * causal context, so that all are removed, shipped and joined as one. Immutable; for any thread.
 *
 * @param whole the object's
 * @param parts its parts'
 */
public record Expiry(DeadlineRegister whole, PartDeadlines<?> parts) {
  /** The deadlines of an object that has been given none. */
  public static final Expiry NONE = new Expiry(DeadlineRegister.NONE, PartDeadlines.none());

  public static Expiry of(DeadlineRegister whole, PartDeadlines<?> parts) {
    return whole.isNone() && parts.isEmpty() ? NONE : new Expiry(whole, parts);
  }

  /** Whether there is no deadline, not even one that never comes, and none is mentioned. */
  public boolean isNone() {
    return this == NONE || (whole.isNone() && parts.isEmpty());
  }

  /** Returns when the first deadline passes; {@link DeadlineRegister#NEVER} if none does. */
  public long first() {
    return Math.min(whole.latest(), parts.firstDue());
  }

  /** Returns the dot of the update that gave the deadline which passes first; there must be one. */
  public Dot origin() {
    return !whole.isNone() && whole.latest() <= parts.firstDue()
        ? whole.latestDot()
        : parts.firstOrigin();
  }

  /**
   * Returns the join of two sides.
   *
   * @param mine the left side's content; a state's, unless both are deltas
   * @param joined the contents' join
   */
  public Expiry join(
      Expiry other, DotStore<?> mine, DotStore<?> theirs, DotStore<?> joined, JoinContext joining) {
    if (isNone() && other.isNone()) {
      return NONE;
    }
    return of(
        whole.join(other.whole, joining.left(), joining.right()),
        parts.isEmpty() && other.parts.isEmpty()
            ? PartDeadlines.none()
            : ExpiringParts.join(
                ExpiringParts.of(mine, parts), theirs, other.parts, joined, joining));
  }

  public long sizeBytes() {
    return isNone() ? 0 : whole.sizeBytes() + parts.sizeBytes();
  }

  public long heapBytes() {
    return isNone()
        ? 0
        : HeapSize.object(2 * HeapSize.REFERENCE) + whole.heapBytes() + parts.heapBytes();
  }

  /**
   * Writes this: the object's register; if parts have deadlines, these follow, and an empty
   * register, which is never written otherwise, goes before.
   */
  public void write(WireOutput out, DotStore<?> content) {
    if (!parts.isEmpty()) {
      DeadlineRegister.NONE.write(out);
    }
    whole.write(out);
    if (!parts.isEmpty()) {
      ExpiringParts.of(content, parts).write(out);
    }
  }

  /** As {@link CrdtState#packLeaves}. */
  public Expiry packLeaves(DotStore<?> content, List<ReplicaId> replicas) {
    if (parts.isEmpty()) {
      return this;
    }
    PartDeadlines<?> packed = ExpiringParts.of(content, parts).packLeaves(replicas);
    return packed == parts ? this : new Expiry(whole, packed);
  }

  /**
   * Reads what {@link #write} wrote.
   *
   * @param replicas as in {@link PartDeadlines#read}
   */
  public static Expiry read(
      WireInput in, DotStore<?> content, boolean full, List<ReplicaId> replicas) {
    DeadlineRegister whole = DeadlineRegister.read(in);
    if (!whole.isNone()) {
      return new Expiry(whole, PartDeadlines.none());
    }
    whole = DeadlineRegister.read(in);
    if (!(content instanceof EntryStore<?, ?, ?> cells)) {
      throw new MalformedException("a " + content.type() + " has no parts with deadlines");
    }
    PartDeadlines<?> parts = PartDeadlines.read(cells, full, replicas, in);
    if (parts.isEmpty()) {
      throw new MalformedException("deadlines of parts are announced and missing");
    }
    return new Expiry(whole, parts);
  }

  @Override
  public String toString() {
    return parts.isEmpty() ? whole.toString() : whole + ", parts " + parts;
  }
}
