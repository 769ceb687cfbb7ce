package io.osier.crdt.state;

import io.osier.core.CausalContext;
import io.osier.core.HeapSize;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DotStore;
import io.osier.crdt.JoinContext;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.UpdateContext;
import io.osier.crdt.expiry.DeadlineRegister;
import io.osier.crdt.expiry.ExpiringParts;
import io.osier.crdt.expiry.Expiry;
import io.osier.crdt.types.EntryStore;
import io.osier.crdt.types.TypeRegistry;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An object's state, or a delta of it: a {@link DotStore} and the causal context it was made in.
 * The same class stands for one operation's effect, for the join of many, and for everything so
 * far; any mix of them may be joined in any order, any number of times (invariant I1).
 *
 * <p>An object, a set's element and a map's field may have a deadline. It is in here, so content
 * and deadline are never seen one without the other, and the removal of what has expired is one
 * update, which carries the dots of both. What is past its deadline is <em>over</em>: nobody shows
 * it ({@link #at}), and the next update of it removes it first ({@link Updates#prepareAt}).
 *
 * <p>Immutable and safe for any thread.
 */
public final class CrdtState {
  /** The deadline of what does not expire. */
  public static final long NEVER = DeadlineRegister.NEVER;

  /** Of so few parts that are over each reader looks itself what is left. */
  private static final int FEW_OVER = 16;

  private final DotStore<?> store;
  private final Expiry expiry;
  private final CausalContext context;
  private final boolean full;

  /** See {@link #packed}; null until it is needed. */
  private volatile byte @Nullable [] packed;

  /** What readers see while parts are over; null until one has looked. */
  private volatile @Nullable Seen seen;

  /**
   * This without the parts that are over.
   *
   * @param from since when exactly those are over
   * @param over how many those are
   */
  private record Seen(CrdtState without, long from, int over) {
    boolean isSo(long millis) {
      return from <= millis && millis < without.expiry.parts().firstDue();
    }
  }

  private CrdtState(DotStore<?> store, Expiry expiry, CausalContext context, boolean full) {
    this.store = store;
    this.expiry = expiry;
    this.context = context;
    this.full = full;
  }

  /** The state of a new object. */
  public static CrdtState bottom(CrdtType type) {
    return new CrdtState(TypeRegistry.empty(type), Expiry.NONE, CausalContext.EMPTY, true);
  }

  /** A state or a delta of the given parts. */
  public static CrdtState of(
      DotStore<?> store, Expiry expiry, CausalContext context, boolean full) {
    return new CrdtState(store, expiry, context, full);
  }

  /** The data type. */
  public CrdtType type() {
    return store.type();
  }

  /** The content without the context. */
  public DotStore<?> store() {
    return store;
  }

  /** Until when it lives. */
  public Expiry expiry() {
    return expiry;
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
   * Prepares an operation against this state; see {@link UpdateContext} for the numbers.
   *
   * @return the delta; joining it to this state gives the new state. The update's commit number is
   *     the last one of the origin in its context. Where a decomposed set is cleared it is that new
   *     state, which has no content: its size is not that of what is gone
   */
  public CrdtState prepare(
      Operation operation,
      ReplicaId origin,
      long first,
      long predecessor,
      long timestamp,
      long forgotten) {
    return Updates.prepare(
        this, operation, new UpdateContext(origin, first, predecessor, timestamp, forgotten));
  }

  /**
   * Prepares an update that changes nothing: who has it has what came before it.
   *
   * @return as {@link #prepare} does
   */
  public CrdtState prepareNothing(ReplicaId origin, long first, long predecessor) {
    CausalContext own = CausalContext.EMPTY.withRange(origin, predecessor, first);
    return new CrdtState(TypeRegistry.empty(type()), Expiry.NONE, own, false);
  }

  ExpiringParts<?> parts() {
    return ExpiringParts.of(store, expiry.parts());
  }

  /**
   * The least upper bound of both.
   *
   * @throws IllegalArgumentException if the types differ
   */
  public CrdtState join(CrdtState other) {
    if (type() != other.type()) {
      throw new IllegalArgumentException(
          "a " + type() + " cannot be joined with a " + other.type());
    }
    if (other.full && !full) {
      return other.join(this); // the smaller side second: a join costs what the right side mentions
    }
    if (other.full && isNew() && !isDecomposed() && !other.isDecomposed()) {
      return other; // with its packed leaves, where it has some
    }
    JoinContext joining = new JoinContext(context, full, other.context, other.full);
    DotStore<?> joined = TypeRegistry.join(store, other.store, joining);
    CrdtState both =
        new CrdtState(
            joined,
            expiry.join(other.expiry, store, other.store, joined, joining),
            context.join(other.context),
            joining.full());
    both.seen = seenAfter(other, both);
    return both;
  }

  /** What readers see of this with a delta, if that is known of this: it costs the delta. */
  private @Nullable Seen seenAfter(CrdtState delta, CrdtState both) {
    Seen known = seen;
    if (known == null || known.over <= FEW_OVER || delta.full || both.expiry.parts().isEmpty()) {
      return null;
    }
    ExpiringParts<?> before = known.without.parts();
    return seen(
        both,
        before.after(delta.store, delta.expiry.parts(), both.parts(), known.from),
        known.from);
  }

  private static Seen seen(CrdtState all, ExpiringParts<?> left, long from) {
    Expiry rest = Expiry.of(all.expiry.whole(), left.deadlines());
    int over = all.expiry.parts().size() - left.deadlines().size();
    CrdtState without = new CrdtState(left.content(), rest, all.context, all.full);
    return new Seen(over > FEW_OVER ? without.packLeaves() : without, from, over);
  }

  /**
   * Where many parts are over, looks what readers see before this is updated: what comes of it has
   * that from this, and need not look at all of them.
   */
  void lookWhatIsOver(long millis) {
    Seen known = seen;
    boolean isKnown = known != null && known.isSo(millis);
    if (!isKnown && full && hasPartsOver(millis) && expiry.parts().areOver(millis, FEW_OVER + 1)) {
      CrdtState unused = at(millis);
    }
  }

  private boolean isDecomposed() {
    return Decomposition.isDecomposed(this);
  }

  private boolean isNew() {
    return full && context.isEmpty() && expiry.isNone() && store.isEmpty();
  }

  /**
   * The least upper bound of many: halves are joined, so that it costs their sizes times the
   * logarithm of their number, where joining one after the other would copy what grows each time.
   *
   * @throws IllegalArgumentException if there is none, or the types differ
   */
  public static CrdtState join(List<CrdtState> parts) {
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
  public CrdtState seen(CausalContext more) {
    return context.covers(more) ? this : new CrdtState(store, expiry, context.join(more), full);
  }

  /** The content and its deadline without context, and without what only remembers resets. */
  public CrdtState trimmed() {
    return new CrdtState(store.trimmed(), expiry, CausalContext.EMPTY, full);
  }

  /** Whether it or a part of it was given a deadline, or one that never comes. */
  public boolean expires() {
    return !expiry.isNone();
  }

  /** When it expires as a whole, in milliseconds since 1970; {@link #NEVER} if it does not. */
  public long deadline() {
    return expiry.whole().latest();
  }

  /**
   * When a part of it expires that is there, in milliseconds since 1970; {@link #NEVER} if it does
   * not, or is not there.
   *
   * @throws OsierException WRONG_TYPE if an object of this type has no such parts
   */
  public long deadline(Part part) {
    return parts().deadline(part);
  }

  /** Which datacenter gave the deadline of what is over first; empty if there is none. */
  public Optional<String> deadlineOrigin() {
    return overAt() == NEVER || expiry.isNone()
        ? Optional.empty()
        : Optional.of(expiry.origin().replica().dc());
  }

  /**
   * Whether it has a deadline which has passed, or deadlines and nothing left for them: then it is
   * as if it were removed, and is to be.
   *
   * @param millis the time, in milliseconds since 1970
   */
  public boolean isOver(long millis) {
    return !expiry.isNone() && (store.isBottom() || expiry.whole().latest() <= millis);
  }

  /** How many of its parts have deadlines. */
  public int mortalParts() {
    return expiry.parts().size();
  }

  boolean hasPartsOver(long millis) {
    return expiry.parts().firstDue() <= millis;
  }

  /**
   * From when on it or a part of it is over, in milliseconds since 1970: 0 if there is a deadline
   * and nothing left that could expire, {@link #NEVER} if that does not come.
   */
  public long overAt() {
    return !expiry.isNone() && store.isBottom() ? 0 : expiry.first();
  }

  /**
   * This as a reader sees it: without what is over, with what it knows of.
   *
   * @param millis the time, in milliseconds since 1970
   */
  public CrdtState at(long millis) {
    if (expiry.isNone()) {
      return this;
    }
    if (isOver(millis)) {
      return new CrdtState(TypeRegistry.empty(type()), Expiry.NONE, context, full);
    }
    if (!hasPartsOver(millis)) {
      return this;
    }
    Seen known = seen;
    if (known == null || !known.isSo(millis)) {
      // What was over then is over now, too.
      CrdtState before = known != null && known.from <= millis ? known.without : this;
      known = seen(this, before.parts().at(millis), millis);
      seen = known;
    }
    return known.without;
  }

  /**
   * Whether a reader sees nothing of it.
   *
   * @param millis the time, in milliseconds since 1970
   */
  public boolean isNothing(long millis) {
    return isBottom() || (!expiry.isNone() && at(millis).isBottom());
  }

  /**
   * Whether this only remembers what was removed: it may be forgotten once every datacenter has all
   * of its context.
   */
  public boolean isSpent() {
    return expiry.isNone() && store.isBottom() && store.isTrimmedEmpty();
  }

  /**
   * Answers a query.
   *
   * @throws OsierException VALUE_TOO_LARGE if all of a decomposed object is asked for that no
   *     answer has room for
   */
  public Reading read(Query query) {
    if (query instanceof Query.Whole) {
      Decomposition.checkWhole(this);
    }
    return query instanceof Query.Exists ? new Reading.Flag(!isBottom()) : store.read(query);
  }

  /** Whether a reader cannot tell this from a new object. */
  public boolean isBottom() {
    return store.isBottom();
  }

  /** See {@link DotStore#latestTimestamp}. */
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
    return 2 + store.sizeBytes() + expiry.sizeBytes();
  }

  /** What this takes in the heap, about, in bytes, without a look at the content's parts. */
  public long heapBytes() {
    return HeapSize.object(5 * HeapSize.REFERENCE + 1)
        + store.heapBytes()
        + expiry.heapBytes()
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
    writeContent(out);
  }

  /** Writes this without its type and context; equal contents give equal bytes. */
  public void writeContent(WireOutput out) {
    store.write(out);
    if (!expiry.isNone()) {
      expiry.write(out, store);
    }
  }

  /**
   * An equal state that takes little more of the heap than its bytes: the leaves of a large set or
   * map are packed, those of large fields included. What is packed already is taken over. An update
   * of few elements leaves it so, one of many neighbours unpacks their leaf, of a hundred elements
   * or so, and what only reads costs some more. Costs what is not packed; after a replica wrote to
   * the object for the first time, all of it. Small objects and deltas are left as they are.
   *
   * @return this if there is nothing to do
   */
  public CrdtState packLeaves() {
    if (!full) {
      return this;
    }
    List<ReplicaId> replicas = context.replicas();
    DotStore<?> same = TypeRegistry.packLeaves(store, replicas);
    Expiry until = expiry.packLeaves(same, replicas);
    return same == store && until == expiry ? this : new CrdtState(same, until, context, true);
  }

  /** What {@link #packLeaves} could make smaller, in bytes of the heap, about: O(1). */
  public long looseHeapBytes() {
    return full && store instanceof EntryStore<?, ?, ?> cells
        ? cells.looseHeapBytes() + expiry.parts().looseHeapBytes()
        : 0;
  }

  /** By what the bytes of this can be read: see {@link ObjectForm}. */
  public int form() {
    return ObjectForm.of(type(), expires());
  }

  /**
   * Reads a content.
   *
   * @param replicas the context's
   */
  private static CrdtState readContent(
      int form, CausalContext context, List<ReplicaId> replicas, boolean full, WireInput in) {
    // A delta is joined and written again soon; what is packed would be read twice.
    DotStore<?> store = TypeRegistry.read(ObjectForm.type(form), in, full ? replicas : List.of());
    Expiry expiry =
        ObjectForm.expires(form)
            ? Expiry.read(in, store, full, full ? replicas : List.of())
            : Expiry.NONE;
    return new CrdtState(store, expiry, context, full);
  }

  /**
   * Reads what {@link #packed} gave. A delta keeps the bytes.
   *
   * @param form what {@link #form} was
   * @param replicas the context's, in its order
   */
  public static CrdtState unpack(int form, boolean full, List<ReplicaId> replicas, WireInput in) {
    int from = in.position();
    CrdtState content =
        in.readPart(
            replicas, part -> readContent(form, part.readRanges(replicas), replicas, full, part));
    if (!full) {
      content.packed = in.readSince(from);
    }
    return content;
  }

  /** Writes this: type, whether full, context, content. */
  public void write(WireOutput out) {
    int form = form();
    out.writeByte((ObjectForm.bits(form) << 1) | (full ? 1 : 0));
    ObjectForm.writeRest(out, form);
    writeBody(out);
  }

  /** Writes this without its type and whether it is full, for a record that has them already. */
  public void writeBody(WireOutput out) {
    out.writeContext(context);
    writeContent(out);
  }

  /** Reads what {@link #write} wrote. */
  public static CrdtState read(WireInput in) {
    int head = in.readByteUnsigned();
    return readBody(ObjectForm.read(head >> 1, in), (head & 1) == 1, in);
  }

  /**
   * Reads what {@link #writeBody} wrote.
   *
   * @param form what {@link #form} was
   */
  public static CrdtState readBody(int form, boolean full, WireInput in) {
    CausalContext context = in.readContext();
    return readContent(form, context, context.replicas(), full, in);
  }

  @Override
  public boolean equals(Object o) {
    return o == this
        || (o instanceof CrdtState c
            && full == c.full
            && context.equals(c.context)
            && expiry.equals(c.expiry)
            && store.equals(c.store));
  }

  @Override
  public int hashCode() {
    return Objects.hash(full, context, store, expiry);
  }

  @Override
  public String toString() {
    return (full ? "state " : "delta ")
        + store
        + (expiry.isNone() ? "" : " until " + expiry)
        + " in "
        + context;
  }
}
