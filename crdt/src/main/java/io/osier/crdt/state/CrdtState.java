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
 * <p>An object, a set's element and a map's field may have a deadline. It is part of the state, so
 * content and deadline are never seen one without the other, and the removal of something expired
 * is one update, which carries the dots of both. An object or part whose deadline has passed is
 * <em>over</em>: it is shown to nobody ({@link #at}), and the next update of it removes it first
 * ({@link Updates#prepareAt}).
 *
 * <p>Immutable and safe for any thread.
 */
public final class CrdtState {
  /** The deadline of an object or part that does not expire. */
  public static final long NEVER = DeadlineRegister.NEVER;

  private final DotStore<?> store;
  private final Expiry expiry;
  private final CausalContext context;
  private final boolean full;

  /** A delta's bytes from {@link StateCodec#pack}; null until they are needed. */
  private volatile byte @Nullable [] packed;

  /** What readers see while parts are over; null until somebody has read it. */
  private volatile @Nullable UnexpiredView seen;

  private CrdtState(DotStore<?> store, Expiry expiry, CausalContext context, boolean full) {
    this.store = store;
    this.expiry = expiry;
    this.context = context;
    this.full = full;
  }

  /** Returns the state of a new object. */
  public static CrdtState bottom(CrdtType type) {
    return new CrdtState(TypeRegistry.empty(type), Expiry.NONE, CausalContext.EMPTY, true);
  }

  /** Returns a state or a delta of the given parts. */
  public static CrdtState of(
      DotStore<?> store, Expiry expiry, CausalContext context, boolean full) {
    return new CrdtState(store, expiry, context, full);
  }

  public CrdtType type() {
    return store.type();
  }

  /** Returns the content without the context. */
  public DotStore<?> store() {
    return store;
  }

  /** Returns the deadlines of the object and its parts. */
  public Expiry expiry() {
    return expiry;
  }

  /** Returns the set of dots that this has seen. */
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
   * @return the delta, or the new state if a decomposed set is cleared. The update's commit number
   *     is the origin's last one in its context
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
   * Returns the least upper bound of both.
   *
   * @throws IllegalArgumentException if the types differ
   */
  public CrdtState join(CrdtState other) {
    if (type() != other.type()) {
      throw new IllegalArgumentException(
          "a " + type() + " cannot be joined with a " + other.type());
    }
    if (other.full && !full) {
      // A join costs what the right side mentions, so the smaller one goes there.
      return other.join(this);
    }
    if (other.full && isNew() && !isDecomposed() && !other.isDecomposed()) {
      return other; // keeps its packed leaves, if it has some
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

  /** Computes what readers see before an update, if many parts are over, for the updated state. */
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
   * Returns the least upper bound of one or more. Joins halves, which costs their sizes times the
   * logarithm of their number; one after the other would copy a growing state each time.
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

  /** Returns the same content in a larger context: what that covers and is not here was removed. */
  public CrdtState seen(CausalContext more) {
    return context.covers(more) ? this : new CrdtState(store, expiry, context.join(more), full);
  }

  /**
   * Returns content and deadlines without context and without entries that only remember resets.
   */
  public CrdtState trimmed() {
    return new CrdtState(store.trimmed(), expiry, CausalContext.EMPTY, full);
  }

  /** Whether it or a part of it has been given a deadline, even one that never comes. */
  public boolean expires() {
    return !expiry.isNone();
  }

  /** Returns when the whole expires, in milliseconds since 1970; {@link #NEVER} if it does not. */
  public long deadline() {
    return expiry.whole().latest();
  }

  /**
   * Returns when a part of it expires, as {@link #deadline()}; {@link #NEVER} if it does not exist.
   *
   * @throws OsierException WRONG_TYPE if an object of this type has no such parts
   */
  public long deadline(Part part) {
    return parts().deadline(part);
  }

  /** Returns the datacenter that gave the deadline which expires first; empty if there is none. */
  public Optional<String> deadlineOrigin() {
    return overAt() == NEVER || expiry.isNone()
        ? Optional.empty()
        : Optional.of(expiry.origin().replica().dc());
  }

  /**
   * Whether it has a deadline which has passed, or deadlines and nothing left that they apply to:
   * then it counts as removed, and is to be removed.
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
   * Returns from when on it or a part of it is over, in milliseconds since 1970: 0 if there is a
   * deadline and nothing left that could expire, {@link #NEVER} if that does not come.
   */
  public long overAt() {
    return !expiry.isNone() && store.isBottom() ? 0 : expiry.first();
  }

  /**
   * Returns this as a reader sees it: without what is over, but in the same context.
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
   * Whether this only remembers removals: it may be forgotten once every datacenter has its whole
   * context.
   */
  public boolean isSpent() {
    return expiry.isNone() && store.isBottom() && store.isTrimmedEmpty();
  }

  /**
   * Answers a query.
   *
   * @throws OsierException VALUE_TOO_LARGE if the query asks for the whole of a decomposed object
   *     that is too large for an answer
   */
  public Reading read(Query query) {
    if (query instanceof Query.Whole) {
      checkWhole();
    }
    return query instanceof Query.Exists ? new Reading.Flag(!isBottom()) : store.read(query);
  }

  /** Refuses to read a whole object that is too large for an answer, before it is in the heap. */
  private void checkWhole() {
    if (isDecomposed() && sizeBytes() > EntryStore.WHOLE_BYTES_MAX) {
      throw OsierException.of(
          ErrorCode.VALUE_TOO_LARGE,
          ("a %s of about %s bytes is too large to be read as a whole: the limit is %s bytes; read"
                  + " it in part (range, stream, contains, size, some fields of a map)")
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

  /** Returns an estimate of the encoded size, in bytes, without looking at the content's parts. */
  public long sizeBytes() {
    return contentBytes() + 3L * context.size() + 3L * context.rangeCount();
  }

  /** As {@link #sizeBytes}, without the context: a removal never makes it larger. */
  public long contentBytes() {
    return 2 + store.sizeBytes() + expiry.sizeBytes();
  }

  /** Returns about how many bytes this takes in the heap, without looking at the parts. */
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
   * Returns an equal state that takes little more of the heap than its bytes: the leaves of a large
   * set or map are packed, including those of large fields. Leaves that are packed already are
   * reused. An update of few elements leaves them packed; one of many neighbours unpacks their
   * leaf, of a hundred elements or so; reads cost a little more. The method costs what is not
   * packed; after a replica's first write to the object, all of it. Small objects and deltas stay
   * as they are.
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

  /** Returns about how many bytes of the heap {@link #packLeaves} could make smaller: O(1). */
  public long looseHeapBytes() {
    return full && store instanceof EntryStore<?, ?, ?> cells
        ? cells.looseHeapBytes() + expiry.parts().looseHeapBytes()
        : 0;
  }

  /** Returns the form by which the bytes of this can be read: see {@link ObjectForm}. */
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
