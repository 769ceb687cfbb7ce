package io.osier.crdt.expiry;

import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.memory.HeapSize;
import io.osier.crdt.JoinContext;
import io.osier.crdt.UpdateContext;
import io.osier.crdt.expiry.DeadlineOrder.Due;
import io.osier.crdt.tree.EntryTree;
import io.osier.crdt.tree.LeafPacking;
import io.osier.crdt.tree.TreeEntry;
import io.osier.crdt.types.EntryStore;
import java.util.ArrayList;
import java.util.List;

/**
 * The deadlines of the parts of an object that have their own: for each part a register beside its
 * entry, in the object's context, of which the latest deadline counts ({@link DeadlineRegister}).
 * As in an {@link EntryStore}, a delta mentions what it changes, if need be with no deadline, and a
 * join costs what the delta mentions.
 *
 * <p>A part is <em>over</em> when its deadline has passed, or when it has one and does not exist: a
 * removal and a deadline that did not see each other leave that. A state has its parts in the order
 * in which they are over, so that the next ones are found without a walk through the others.
 *
 * <p>Immutable and safe for any thread.
 */
public final class PartDeadlines<K extends Comparable<K>> {
  private static final PartDeadlines<?> NONE = PartDeadlines.<Value>empty();

  private static final int ENTRY_BYTES_MIN = 2;

  private static final long HEAP_BYTES = HeapSize.object(2 * HeapSize.REFERENCE + 2 * Long.BYTES);

  public final EntryTree<K, DeadlineRegister> cells;

  /** The parts of a state that will be over some day; empty in a delta. */
  public final DeadlineOrder<K> order;

  /** The encoded size of all registers with their keys. */
  final long bytes;

  /** The heap bytes of the keys and registers in leaves that are not settled. */
  final long loose;

  PartDeadlines(
      EntryTree<K, DeadlineRegister> cells, DeadlineOrder<K> order, long bytes, long loose) {
    this.cells = cells;
    this.order = order;
    this.bytes = bytes;
    this.loose = loose;
  }

  private static <K extends Comparable<K>> PartDeadlines<K> empty() {
    return new PartDeadlines<>(
        EntryTree.<K, DeadlineRegister>empty(), DeadlineOrder.<K>none(), 0, 0);
  }

  @SuppressWarnings("unchecked") // holds no key
  public static <K extends Comparable<K>> PartDeadlines<K> none() {
    return (PartDeadlines<K>) NONE;
  }

  public boolean isEmpty() {
    return cells.isEmpty();
  }

  // ---------------------------------------------------------------- what is over

  /** Returns when a part of a content is over; {@link DeadlineRegister#NEVER} if never. */
  private long due(K key, EntryStore<?, K, ?> content) {
    DeadlineRegister deadlines = cells.get(key);
    return deadlines == null ? DeadlineRegister.NEVER : due(deadlines, key, content);
  }

  private static <K extends Comparable<K>> long due(
      DeadlineRegister deadlines, K key, EntryStore<?, K, ?> content) {
    if (deadlines.isNone()) {
      return DeadlineRegister.NEVER;
    }
    return content.isSeen(key) ? deadlines.latest() : 0;
  }

  /**
   * Returns when the first part of a state is over; {@link DeadlineRegister#NEVER} if none ever is.
   */
  public long firstDue() {
    return order.firstMillis();
  }

  /** Returns the dot of the latest deadline of the part that is over first; there must be one. */
  Dot firstOrigin() {
    DeadlineRegister first = cells.get(order.firstKey());
    if (first == null) {
      throw new IllegalStateException("a part is in the order and has no deadline");
    }
    return first.latestDot();
  }

  boolean isOver(K key, EntryStore<?, K, ?> content, long millis) {
    return due(key, content) <= millis;
  }

  /**
   * Returns a part's deadline, whether or not the part exists; {@link DeadlineRegister#NEVER} if it
   * has none.
   */
  long deadline(K key) {
    DeadlineRegister deadlines = cells.get(key);
    return deadlines == null ? DeadlineRegister.NEVER : deadlines.latest();
  }

  /**
   * Returns the parts of a state that are over, earliest first.
   *
   * @param limit the most parts
   */
  List<K> over(long millis, int limit) {
    return order.until(millis, limit);
  }

  /** Whether at least this many parts of a state are over. */
  public boolean areOver(long millis, int parts) {
    return over(millis, parts).size() == parts;
  }

  /** Returns a state's deadlines without some parts, as a reader sees them. */
  PartDeadlines<K> without(List<K> parts, EntryStore<?, K, ?> content) {
    DeadlineEditor<K> rest = new DeadlineEditor<>(this, content);
    for (K part : parts) {
      rest.order(part, due(part, content), DeadlineRegister.NEVER);
      rest.remove(part);
    }
    return rest.done();
  }

  /**
   * Returns a state's deadlines with some parts as another version has them.
   *
   * @param version content and deadlines
   * @param same the parts that are taken from it
   * @param gone other parts that are removed
   * @param content of this
   */
  PartDeadlines<K> with(
      ExpiringParts<K> version, List<K> same, List<K> gone, EntryStore<?, K, ?> content) {
    DeadlineEditor<K> result = new DeadlineEditor<>(this, content);
    for (K part : same) {
      DeadlineRegister deadlines = version.deadlines().cells.get(part);
      result.order(part, due(part, content), version.deadlines().due(part, version.content()));
      if (deadlines == null) {
        result.remove(part);
      } else {
        result.put(part, deadlines);
      }
    }
    for (K part : gone) {
      result.order(part, due(part, content), DeadlineRegister.NEVER);
      result.remove(part);
    }
    return result.done();
  }

  // ---------------------------------------------------------------- updates

  /** Prepares deadlines of parts that replace their present ones. */
  PartDeadlines<K> replaced(
      List<K> parts, long deadline, EntryStore<?, K, ?> content, UpdateContext preparation) {
    DeadlineEditor<K> delta = new DeadlineEditor<>(none(), content);
    for (K part : parts) {
      if (delta.get(part).isNone()) { // a part that is named twice gets one deadline
        delta.put(part, known(part).replaced(deadline, preparation));
      }
    }
    return delta.done();
  }

  /** Prepares the removal of parts' deadlines. */
  PartDeadlines<K> ended(
      Iterable<K> parts, EntryStore<?, K, ?> content, UpdateContext preparation) {
    DeadlineEditor<K> delta = new DeadlineEditor<>(none(), content);
    for (K part : parts) {
      DeadlineRegister known = known(part);
      if (!known.isNone() && !delta.has(part)) {
        known.supersede(preparation);
        delta.put(part, DeadlineRegister.NONE);
      }
    }
    return delta.done();
  }

  private DeadlineRegister known(K part) {
    DeadlineRegister known = cells.get(part);
    return known == null ? DeadlineRegister.NONE : known;
  }

  /** Returns all parts that have deadlines, or are mentioned. */
  List<K> parts() {
    List<K> parts = new ArrayList<>(cells.size());
    cells.forEach(entry -> parts.add(entry.key()));
    return parts;
  }

  /** Returns how many parts have deadlines, or are mentioned. */
  public int size() {
    return cells.size();
  }

  // ---------------------------------------------------------------- joins

  /**
   * Returns the join of two sides.
   *
   * @param left a state, unless both are deltas
   * @param joined the contents' join
   */
  static <K extends Comparable<K>> PartDeadlines<K> join(
      ExpiringParts<K> left,
      ExpiringParts<K> right,
      EntryStore<?, K, ?> joined,
      JoinContext joining) {
    if (left.deadlines().isEmpty() && right.deadlines().isEmpty()) {
      return none();
    }
    boolean isOrderedAnew = joining.rightFull();
    DeadlineOrder<K> order = isOrderedAnew ? DeadlineOrder.none() : left.deadlines().order;
    DeadlineEditor<K> result = new DeadlineEditor<>(left.deadlines(), order, joined);
    if (isOrderedAnew) {
      for (K part : left.deadlines().parts()) {
        joinInto(result, part, right.deadlines(), joining);
      }
    }
    for (TreeEntry<K, DeadlineRegister> entry : right.deadlines().cells) {
      joinInto(result, entry.key(), right.deadlines(), joining);
    }
    if (isOrderedAnew) {
      return result.done().ordered(joined);
    }
    if (joining.leftFull()) {
      for (TreeEntry<K, DeadlineRegister> entry : right.deadlines().cells) {
        reorder(result, entry.key(), left, joined);
      }
      if (!left.deadlines().isEmpty()) {
        for (TreeEntry<K, ?> entry : right.content().cells()) {
          if (right.deadlines().cells.get(entry.key()) == null) {
            reorder(result, entry.key(), left, joined);
          }
        }
      }
    }
    return result.done();
  }

  private static <K extends Comparable<K>> void joinInto(
      DeadlineEditor<K> result, K part, PartDeadlines<K> right, JoinContext joining) {
    DeadlineRegister deadlines =
        result.get(part).join(right.known(part), joining.left(), joining.right());
    if (joining.full() && deadlines.isNone()) {
      result.remove(part);
    } else {
      result.put(part, deadlines);
    }
  }

  private static <K extends Comparable<K>> void reorder(
      DeadlineEditor<K> result, K part, ExpiringParts<K> left, EntryStore<?, K, ?> joined) {
    result.order(
        part, left.deadlines().due(part, left.content()), due(result.get(part), part, joined));
  }

  /** Returns a state's deadlines with their order. */
  private PartDeadlines<K> ordered(EntryStore<?, K, ?> content) {
    List<Due<K>> dues = new ArrayList<>(cells.size());
    for (TreeEntry<K, DeadlineRegister> entry : cells) {
      addDue(dues, entry.key(), entry.cell(), content);
    }
    return new PartDeadlines<>(cells, DeadlineOrder.of(dues, content), bytes, loose);
  }

  private static <K extends Comparable<K>> void addDue(
      List<Due<K>> dues, K key, DeadlineRegister deadlines, EntryStore<?, K, ?> content) {
    long due = due(deadlines, key, content);
    if (due != DeadlineRegister.NEVER) {
      dues.add(new Due<>(due, key));
    }
  }

  // ---------------------------------------------------------------- bytes

  long sizeBytes() {
    return isEmpty() ? 0 : 2 + bytes;
  }

  long heapBytes() {
    return isEmpty() ? 0 : HEAP_BYTES + cells.heapBytes() + loose + order.heapBytes();
  }

  void write(WireOutput out, EntryStore<?, K, ?> content) {
    out.writeCount(cells.size());
    cells.write(out, new DeadlineCodec<>(content));
  }

  /**
   * Reads what {@link #write} wrote.
   *
   * @param replicas the causal context's, by which packed leaves number theirs; empty if nothing is
   *     to be packed
   */
  static <K extends Comparable<K>> PartDeadlines<K> read(
      EntryStore<?, K, ?> content, boolean full, List<ReplicaId> replicas, WireInput in) {
    int n = in.readCount(ENTRY_BYTES_MIN);
    boolean isPacked = n > LeafPacking.LOOSE_MAX && !replicas.isEmpty();
    EntryTree.Loading<K, DeadlineRegister> packed =
        new EntryTree.Loading<>(packing(content, replicas));
    DeadlineEditor<K> some = new DeadlineEditor<>(none(), content);
    List<Due<K>> dues = new ArrayList<>();
    long bytes = 0;
    K before = null;
    for (int i = 0; i < n; i++) {
      K part = content.readKey(in);
      if (before != null && before.compareTo(part) >= 0) {
        throw new MalformedException("parts with deadlines are not in order");
      }
      DeadlineRegister deadlines = DeadlineRegister.read(in);
      if (full && deadlines.isNone()) {
        throw new MalformedException("a state mentions a part without a deadline");
      }
      if (isPacked) {
        packed.add(part, deadlines);
        bytes += content.keyBytes(part) + deadlines.sizeBytes();
      } else {
        some.put(part, deadlines);
      }
      if (full) {
        addDue(dues, part, deadlines, content);
      }
      before = part;
    }
    DeadlineOrder<K> order = DeadlineOrder.of(dues, content);
    return isPacked ? new PartDeadlines<>(packed.done(), order, bytes, 0) : some.done(order);
  }

  // ---------------------------------------------------------------- packed leaves

  PartDeadlines<K> packLeaves(EntryStore<?, K, ?> content, List<ReplicaId> replicas) {
    LeafPacking<K, DeadlineRegister> packing = packing(content, replicas);
    EntryTree<K, DeadlineRegister> packed = cells.packed(packing.codec(), replicas);
    DeadlineOrder<K> dues = order.packed(content);
    return packed == cells && dues == order
        ? this
        : new PartDeadlines<>(packed, dues, bytes, packed == cells ? loose : 0);
  }

  public static <K extends Comparable<K>> LeafPacking<K, DeadlineRegister> packing(
      EntryStore<?, K, ?> content, List<ReplicaId> replicas) {
    return new LeafPacking<>(new DeadlineCodec<>(content.codecType()), replicas);
  }

  /** Returns about how many bytes of the heap {@link #packLeaves} may make smaller. */
  public long looseHeapBytes() {
    return loose + order.looseHeapBytes();
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof PartDeadlines<?> p && cells.equals(p.cells);
  }

  @Override
  public int hashCode() {
    return cells.hashCode();
  }

  @Override
  public String toString() {
    return cells.toString();
  }
}
