package io.osier.crdt.state;

import io.osier.core.CausalContext;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.memory.HeapSize;
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

  private final DotStore<?> store;
  private final Expiry expiry;
  private final CausalContext context;
  private final boolean full;

  /** What {@link StateCodec#pack} made of a delta; null until it is needed. */
  private volatile byte @Nullable [] packed;

  /** What readers see while parts are over; null until one has looked. */
  private volatile @Nullable UnexpiredView seen;

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
   * @return the delta, or the new state where a decomposed set is cleared. The update's commit
   *     number is the last one of the origin in its context
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
    UnexpiredView known = seen;
    both.seen = known == null ? null : known.after(other, both);
    return both;
  }

  /** Before an update: what comes of it has what readers see of many parts that are over. */
  void lookWhatIsOver(long millis) {
    UnexpiredView known = seen;
    boolean isKnown = known != null && known.isSo(millis);
    if (!isKnown && full && hasPartsOver(millis) && UnexpiredView.isKept(this, millis)) {
      CrdtState unused = at(millis);
    }
  }

  boolean isDecomposed() {
    return store instanceof EntryStore<?, ?, ?> cells && cells.behind() != null;
  }

  /** Whether its clearing is a state without content, and not a delta. */
  boolean isClearedAsAWhole() {
    return full && isDecomposed() && ((EntryStore<?, ?, ?>) store).leavesNothing();
  }

  private boolean isNew() {
    return full && context.isEmpty() && expiry.isNone() && store.isEmpty();
  }

  /**
   * The least upper bound of one or more. Halves are joined: it costs their sizes times the
   * logarithm of their number, where joining one after the other would copy what grows each time.
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

  /** The same content in a context that covers more: what is not here was removed. */
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
   * When a part of it expires, as {@link #deadline()}; {@link #NEVER} of one that is not there.
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
    UnexpiredView known = seen;
    if (known == null || !known.isSo(millis)) {
      known = UnexpiredView.of(this, millis, known);
      seen = known;
    }
    return known.without();
  }

  /** Whether a reader sees nothing of it at a time, in milliseconds since 1970. */
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
      checkWhole();
    }
    return query instanceof Query.Exists ? new Reading.Flag(!isBottom()) : store.read(query);
  }

  /** Refuses to read all of what does not fit into an answer: it would be read into the heap. */
  private void checkWhole() {
    if (isDecomposed() && sizeBytes() > EntryStore.WHOLE_BYTES_MAX) {
      throw OsierException.of(
          ErrorCode.VALUE_TOO_LARGE,
          ("a %s of about %s bytes is too large to be read as a whole, which ends at %s: read it in"
                  + " part (range, stream, contains, size, some fields of a map)")
              .formatted(type(), sizeBytes(), EntryStore.WHOLE_BYTES_MAX));
    }
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

  /** As {@link #sizeBytes}, without the context: a removal never makes it larger. */
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

  byte @Nullable [] packed() {
    return packed;
  }

  /** Keeps a delta's bytes. */
  void keepPacked(byte[] bytes) {
    packed = bytes;
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
