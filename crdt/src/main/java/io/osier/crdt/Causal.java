package io.osier.crdt;

import io.osier.core.CausalContext;
import io.osier.core.HeapSize;
import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An object's state, or a delta of it: a {@link DotStore} and the causal context it was made in.
 * The same class stands for one operation's effect, for the join of many, and for everything so
 * far; any mix of them may be joined in any order, any number of times (invariant I1).
 *
 * <p>Immutable and safe for any thread.
 */
public final class Causal {
  private final DotStore<?> store;
  private final CausalContext context;
  private final boolean full;

  /** See {@link #packed}; null until it is needed. */
  private volatile byte @Nullable [] packed;

  private Causal(DotStore<?> store, CausalContext context, boolean full) {
    this.store = store;
    this.context = context;
    this.full = full;
  }

  /** The state of a new object. */
  public static Causal bottom(CrdtType type) {
    return new Causal(type.empty(), CausalContext.EMPTY, true);
  }

  /** A state or a delta of the given parts. */
  static Causal of(DotStore<?> store, CausalContext context, boolean full) {
    return new Causal(store, context, full);
  }

  /** The data type. */
  public CrdtType type() {
    return store.type();
  }

  /** The content without the context. */
  public DotStore<?> store() {
    return store;
  }

  /** The dots that this knows of. */
  public CausalContext context() {
    return context;
  }

  /** Whether this is a state; otherwise it is a delta. */
  public boolean isFull() {
    return full;
  }

  /**
   * Prepares an operation against this state.
   *
   * @param origin who makes the update
   * @param first the first number for its dots, larger than the origin's last
   * @param predecessor the commit number of the origin's last update of this object, 0 if none
   * @param timestamp a hybrid-clock timestamp, later than all that was seen but by the same
   *     transaction, whose updates all have it
   * @param forgotten of the origin's updates up to this number some may have been forgotten after
   *     their removal ({@link #isSpent}); 0 if none was
   * @return the delta; joining it to this state gives the new state. The update's commit number is
   *     the last one of the origin in its context
   */
  public Causal prepare(
      Operation operation,
      ReplicaId origin,
      long first,
      long predecessor,
      long timestamp,
      long forgotten) {
    // Others may have forgotten, and their states have dropped here what was.
    long dropped = Math.max(forgotten, context.last(origin));
    Preparation preparation = new Preparation(origin, first, timestamp, dropped);
    DotStore<?> delta =
        operation instanceof Operation.Clear
            ? store.reset(preparation)
            : store.prepare(operation, preparation);
    return new Causal(delta, preparation.context(predecessor), false);
  }

  /**
   * The least upper bound of both.
   *
   * @throws IllegalArgumentException if the types differ
   */
  public Causal join(Causal other) {
    if (type() != other.type()) {
      throw new IllegalArgumentException(
          "a " + type() + " cannot be joined with a " + other.type());
    }
    if (other.full && !full) {
      return other.join(this); // the smaller side second: a join costs what the right side mentions
    }
    Joining joining = new Joining(context, full, other.context, other.full);
    return new Causal(
        Stores.join(store, other.store, joining), context.join(other.context), joining.full());
  }

  /**
   * The least upper bound of many: halves are joined, so that it costs their sizes times the
   * logarithm of their number, where joining one after the other would copy what grows each time.
   *
   * @throws IllegalArgumentException if there is none, or the types differ
   */
  public static Causal join(List<Causal> parts) {
    if (parts.isEmpty()) {
      throw new IllegalArgumentException("nothing is to be joined");
    }
    int half = parts.size() / 2;
    return half == 0
        ? parts.getFirst()
        : join(parts.subList(0, half)).join(join(parts.subList(half, parts.size())));
  }

  /**
   * The same content in a context that covers more: what that covers and is not here was removed.
   */
  public Causal seen(CausalContext more) {
    return context.covers(more) ? this : new Causal(store, context.join(more), full);
  }

  /** The content without context, and without what only remembers resets. */
  public DotStore<?> trimmed() {
    return store.trimmed();
  }

  /**
   * Whether this only remembers what was removed: it may be forgotten once every datacenter has all
   * of its context.
   */
  public boolean isSpent() {
    return store.isBottom() && store.isTrimmedEmpty();
  }

  /** Answers a query. */
  public Reading read(Query query) {
    return query instanceof Query.Exists ? new Reading.Flag(!isBottom()) : store.read(query);
  }

  /** Whether a reader cannot tell this from a new object. */
  public boolean isBottom() {
    return store.isBottom();
  }

  /** The latest timestamp of what decides by time in this; 0 if nothing does. O(its size). */
  public long latestTimestamp() {
    return store.latestTimestamp();
  }

  /** An estimate of the encoded size, in bytes, without a look at the content's parts. */
  public long sizeBytes() {
    return contentBytes() + 3L * context.size() + 3L * context.rangeCount();
  }

  /**
   * As {@link #sizeBytes}, without what tells whose updates are in it: a removal never makes it
   * larger.
   */
  public long contentBytes() {
    return 2 + store.sizeBytes();
  }

  /** What this takes in the heap, about, in bytes, without a look at the content's parts. */
  public long heapBytes() {
    return HeapSize.object(3 * HeapSize.REFERENCE + 1)
        + store.heapBytes()
        + context.heapBytes()
        + (full ? 0 : HeapSize.array(sizeBytes(), 1));
  }

  /**
   * The bytes of this without its type, its context's replicas and whether it is full; replicas are
   * numbered as the context has them, so the bytes are the same wherever they are put: in a
   * journal, in a frame to whichever peer. Those of a delta are made once and kept. Not to be
   * changed.
   */
  public byte[] packed() {
    byte[] known = packed;
    if (known != null) {
      return known;
    }
    byte[] bytes = WireOutput.bytesOf(this::pack);
    if (!full) {
      packed = bytes;
    }
    return bytes;
  }

  private void pack(WireOutput out) {
    for (int i = 0; i < context.size(); i++) {
      out.presetReplica(context.replica(i));
    }
    out.writeRanges(context);
    store.write(out);
  }

  /**
   * Reads what {@link #packed} gave. A delta keeps the bytes.
   *
   * @param replicas the context's, in its order
   */
  public static Causal unpack(CrdtType type, boolean full, List<ReplicaId> replicas, WireInput in) {
    int from = in.position();
    Causal content =
        in.readPart(
            replicas,
            part -> {
              CausalContext context = part.readRanges(replicas);
              return new Causal(Stores.read(type, part), context, full);
            });
    if (!full) {
      content.packed = in.readSince(from);
    }
    return content;
  }

  /** Writes this: type, whether full, context, content. */
  public void write(WireOutput out) {
    out.writeByte((type().number() << 1) | (full ? 1 : 0));
    writeBody(out);
  }

  /** Writes this without its type and whether it is full, for a record that has them already. */
  public void writeBody(WireOutput out) {
    out.writeContext(context);
    store.write(out);
  }

  /** Reads what {@link #write} wrote. */
  public static Causal read(WireInput in) {
    int head = in.readByteUnsigned();
    return readBody(CrdtType.of(head >> 1), (head & 1) == 1, in);
  }

  /** Reads what {@link #writeBody} wrote. */
  public static Causal readBody(CrdtType type, boolean full, WireInput in) {
    CausalContext context = in.readContext();
    return new Causal(Stores.read(type, in), context, full);
  }

  @Override
  public boolean equals(Object o) {
    return o == this
        || (o instanceof Causal c
            && full == c.full
            && context.equals(c.context)
            && store.equals(c.store));
  }

  @Override
  public int hashCode() {
    return Objects.hash(full, context, store);
  }

  @Override
  public String toString() {
    return (full ? "state " : "delta ") + store + " in " + context;
  }
}
