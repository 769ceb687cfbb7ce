package io.osier.crdt;

import io.osier.core.Dot;
import io.osier.core.HeapSize;
import io.osier.core.Value;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.vavr.Tuple2;
import io.vavr.collection.TreeSet;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Until when the parts of an object live that have deadlines of their own: for each a register
 * beside its cell, in the object's context, of which the latest deadline counts ({@link
 * DeadlineRegister}). As in a {@link CellStore} a delta mentions what it changes, if need be with
 * no deadline, and a join costs what the delta mentions.
 *
 * <p>A part is <em>over</em> when its deadline has passed, or when it has one and is not there: a
 * removal and a deadline that did not see each other leave that. A state has its parts in the order
 * in which they are over, so that the next ones are found without a walk through the others.
 *
 * <p>Immutable and safe for any thread.
 *
 * @param <K> element or field
 */
final class PartDeadlines<K extends Comparable<K>> {
  private static final PartDeadlines<?> NONE = PartDeadlines.<Value>empty();

  private static final int ENTRY_BYTES_MIN = 2;

  /** A node of the order, with what it holds. */
  private static final long ORDER_BYTES =
      HeapSize.object(3 * HeapSize.REFERENCE + 2 * Integer.BYTES + 1)
          + HeapSize.object(Long.BYTES + HeapSize.REFERENCE);

  private static final long HEAP_BYTES = HeapSize.object(2 * HeapSize.REFERENCE + 2 * Long.BYTES);

  /** When a part is over. */
  private record Due<K extends Comparable<K>>(long millis, K key) implements Comparable<Due<K>> {
    @Override
    public int compareTo(Due<K> other) {
      int byTime = Long.compare(millis, other.millis);
      return byTime != 0 ? byTime : key.compareTo(other.key);
    }
  }

  private final CellMap<K, DeadlineRegister> cells;

  /** Those parts of a state that are over some day; empty in a delta. */
  private final TreeSet<Due<K>> order;

  private final long bytes;
  private final long heap;

  private PartDeadlines(
      CellMap<K, DeadlineRegister> cells, TreeSet<Due<K>> order, long bytes, long heap) {
    this.cells = cells;
    this.order = order;
    this.bytes = bytes;
    this.heap = heap;
  }

  private static <K extends Comparable<K>> PartDeadlines<K> empty() {
    return new PartDeadlines<>(CellMap.empty(), TreeSet.<Due<K>>empty(), 0, 0);
  }

  @SuppressWarnings("unchecked") // holds no key
  static <K extends Comparable<K>> PartDeadlines<K> none() {
    return (PartDeadlines<K>) NONE;
  }

  /** Whether no part has a deadline, and none is mentioned. */
  boolean isEmpty() {
    return cells.isEmpty();
  }

  /** Takes parts in and out, one by one, and keeps the sums. */
  private static final class Editor<K extends Comparable<K>> {
    private final CellStore<?, K, ?> keys;
    private final CellEdit<K, DeadlineRegister> cells;
    private TreeSet<Due<K>> order;
    private long bytes;
    private long heap;

    Editor(PartDeadlines<K> from, CellStore<?, K, ?> keys) {
      this.keys = keys;
      this.cells = from.cells.edit();
      this.order = from.order;
      this.bytes = from.bytes;
      this.heap = from.heap;
    }

    DeadlineRegister get(K key) {
      DeadlineRegister known = cells.get(key);
      return known == null ? DeadlineRegister.NONE : known;
    }

    void put(K key, DeadlineRegister deadlines) {
      count(key, cells.get(key), -1);
      cells.put(key, deadlines);
      count(key, deadlines, 1);
    }

    void remove(K key) {
      count(key, cells.get(key), -1);
      cells.remove(key);
    }

    private void count(K key, @Nullable DeadlineRegister deadlines, int sign) {
      if (deadlines != null) {
        bytes += sign * (keys.keyBytes(key) + deadlines.sizeBytes());
        heap += sign * (keys.keyHeapBytes(key) + deadlines.heapBytes());
      }
    }

    void order(K key, long from, long to) {
      if (from != to) {
        order = from == DeadlineRegister.NEVER ? order : order.remove(new Due<>(from, key));
        order = to == DeadlineRegister.NEVER ? order : order.add(new Due<>(to, key));
      }
    }

    PartDeadlines<K> done() {
      CellMap<K, DeadlineRegister> all = cells.done();
      return all.isEmpty() ? none() : new PartDeadlines<>(all, order, bytes, heap);
    }
  }

  // ---------------------------------------------------------------- what is over

  /** When a part is over that belongs to a content; {@link DeadlineRegister#NEVER} if never. */
  private long due(K key, CellStore<?, K, ?> content) {
    DeadlineRegister deadlines = cells.get(key);
    return deadlines == null ? DeadlineRegister.NEVER : due(deadlines, key, content);
  }

  private static <K extends Comparable<K>> long due(
      DeadlineRegister deadlines, K key, CellStore<?, K, ?> content) {
    if (deadlines.isNone()) {
      return DeadlineRegister.NEVER;
    }
    return content.isSeen(key) ? deadlines.latest() : 0;
  }

  /** When the first part of a state is over; {@link DeadlineRegister#NEVER} if none ever is. */
  long firstDue() {
    return order.isEmpty() ? DeadlineRegister.NEVER : order.head().millis;
  }

  /** The dot of the deadline that counts of the part that is over first; there must be one. */
  Dot firstOrigin() {
    DeadlineRegister first = cells.get(order.head().key);
    if (first == null) {
      throw new IllegalStateException("a part is in the order and has no deadline");
    }
    return first.latestDot();
  }

  /** Whether a part is over. */
  boolean isOver(K key, CellStore<?, K, ?> content, long millis) {
    return due(key, content) <= millis;
  }

  /**
   * A part's deadline, whether it is there or not; {@link DeadlineRegister#NEVER} if it has none.
   */
  long deadline(K key) {
    DeadlineRegister deadlines = cells.get(key);
    return deadlines == null ? DeadlineRegister.NEVER : deadlines.latest();
  }

  /**
   * The parts of a state that are over, those first that were first.
   *
   * @param limit so many at most
   */
  List<K> over(long millis, int limit) {
    List<K> over = new ArrayList<>();
    for (Due<K> due : order) {
      if (due.millis > millis || over.size() == limit) {
        break;
      }
      over.add(due.key);
    }
    return over;
  }

  /** A state's without some parts, as a reader sees it. */
  PartDeadlines<K> without(List<K> parts, CellStore<?, K, ?> content) {
    Editor<K> rest = new Editor<>(this, content);
    for (K part : parts) {
      rest.order(part, due(part, content), DeadlineRegister.NEVER);
      rest.remove(part);
    }
    return rest.done();
  }

  // ---------------------------------------------------------------- updates

  /** Prepares another deadline of parts in the place of those that they have. */
  PartDeadlines<K> replaced(
      List<K> parts, long deadline, CellStore<?, K, ?> content, Preparation preparation) {
    Editor<K> delta = new Editor<>(none(), content);
    for (K part : parts) {
      if (delta.get(part).isNone()) { // given twice it is given once
        delta.put(part, known(part).replaced(deadline, preparation));
      }
    }
    return delta.done();
  }

  /** Prepares that parts have no deadline any more. */
  PartDeadlines<K> ended(Iterable<K> parts, CellStore<?, K, ?> content, Preparation preparation) {
    Editor<K> delta = new Editor<>(none(), content);
    for (K part : parts) {
      DeadlineRegister known = known(part);
      if (!known.isNone() && delta.cells.get(part) == null) {
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

  /** All parts that have deadlines, or are mentioned. */
  List<K> parts() {
    List<K> parts = new ArrayList<>(cells.size());
    cells.forEach(entry -> parts.add(entry._1));
    return parts;
  }

  /** How many parts have deadlines, or are mentioned. */
  int size() {
    return cells.size();
  }

  // ---------------------------------------------------------------- joins

  /**
   * The join of two sides.
   *
   * @param left a state, unless both are deltas
   * @param joined the contents' join
   */
  static <K extends Comparable<K>> PartDeadlines<K> join(
      Parts<K> left, Parts<K> right, CellStore<?, K, ?> joined, Joining joining) {
    if (left.deadlines().isEmpty() && right.deadlines().isEmpty()) {
      return none();
    }
    Editor<K> result = new Editor<>(left.deadlines(), joined);
    if (joining.rightFull()) {
      result.order = TreeSet.empty();
      for (K part : left.deadlines().parts()) {
        joinInto(result, part, right.deadlines(), joining);
      }
    }
    for (Tuple2<K, DeadlineRegister> entry : right.deadlines().cells) {
      joinInto(result, entry._1, right.deadlines(), joining);
    }
    if (joining.rightFull()) {
      return result.done().ordered(joined);
    }
    if (joining.leftFull()) {
      for (Tuple2<K, DeadlineRegister> entry : right.deadlines().cells) {
        reorder(result, entry._1, left, joined);
      }
      if (!left.deadlines().isEmpty()) {
        for (Tuple2<K, ?> entry : right.content().cells()) {
          if (right.deadlines().cells.get(entry._1) == null) {
            reorder(result, entry._1, left, joined);
          }
        }
      }
    }
    return result.done();
  }

  private static <K extends Comparable<K>> void joinInto(
      Editor<K> result, K part, PartDeadlines<K> right, Joining joining) {
    DeadlineRegister deadlines =
        result.get(part).join(right.known(part), joining.left(), joining.right());
    if (joining.full() && deadlines.isNone()) {
      result.remove(part);
    } else {
      result.put(part, deadlines);
    }
  }

  private static <K extends Comparable<K>> void reorder(
      Editor<K> result, K part, Parts<K> left, CellStore<?, K, ?> joined) {
    result.order(
        part, left.deadlines().due(part, left.content()), due(result.get(part), part, joined));
  }

  /** A state's, in order. */
  private PartDeadlines<K> ordered(CellStore<?, K, ?> content) {
    List<Due<K>> dues = new ArrayList<>(cells.size());
    for (Tuple2<K, DeadlineRegister> entry : cells) {
      long due = due(entry._2, entry._1, content);
      if (due != DeadlineRegister.NEVER) {
        dues.add(new Due<>(due, entry._1));
      }
    }
    return new PartDeadlines<>(cells, TreeSet.ofAll(dues), bytes, heap);
  }

  // ---------------------------------------------------------------- bytes

  long sizeBytes() {
    return isEmpty() ? 0 : 2 + bytes;
  }

  long heapBytes() {
    return isEmpty() ? 0 : HEAP_BYTES + cells.heapBytes() + heap + order.size() * ORDER_BYTES;
  }

  void write(WireOutput out, CellStore<?, K, ?> content) {
    out.writeCount(cells.size());
    for (Tuple2<K, DeadlineRegister> entry : cells) {
      content.writeKey(out, entry._1);
      entry._2.write(out);
    }
  }

  /** Reads what {@link #write} wrote. */
  static <K extends Comparable<K>> PartDeadlines<K> read(
      CellStore<?, K, ?> content, boolean full, WireInput in) {
    Editor<K> result = new Editor<>(none(), content);
    K before = null;
    for (int n = in.readCount(ENTRY_BYTES_MIN); n > 0; n--) {
      K part = content.readKey(in);
      if (before != null && before.compareTo(part) >= 0) {
        throw new MalformedException("parts with deadlines are not in order");
      }
      DeadlineRegister deadlines = DeadlineRegister.read(in);
      if (full && deadlines.isNone()) {
        throw new MalformedException("a state mentions a part without a deadline");
      }
      result.put(part, deadlines);
      before = part;
    }
    PartDeadlines<K> read = result.done();
    return full ? read.ordered(content) : read;
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
