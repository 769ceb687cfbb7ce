package io.osier.crdt.expiry;

import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.memory.HeapSize;
import io.osier.crdt.tree.EntryTree;
import io.osier.crdt.tree.LeafCodec;
import io.osier.crdt.tree.LeafPacking;
import io.osier.crdt.tree.TreeEdit;
import io.osier.crdt.tree.TreeEntry;
import io.osier.crdt.types.EntryStore;
import java.util.ArrayList;
import java.util.List;

/**
 * The parts of a state in the order in which they are over, so that the next ones are found without
 * a walk through the others. Its leaves are packed like those of the content. Immutable and safe
 * for any thread.
 */
public final class DeadlineOrder<K extends Comparable<K>> {
  private static final DeadlineOrder<?> NONE = new DeadlineOrder<>(EntryTree.empty(), 0);
  private static final long HEAP_BYTES = HeapSize.object(HeapSize.REFERENCE + 2 * Long.BYTES);
  private static final long DUE_BYTES = HeapSize.object(HeapSize.REFERENCE + Long.BYTES);

  /** A part and when it is over. */
  public record Due<K extends Comparable<K>>(long millis, K key) implements Comparable<Due<K>> {
    @Override
    public int compareTo(Due<K> other) {
      int byTime = Long.compare(millis, other.millis);
      return byTime != 0 ? byTime : key.compareTo(other.key);
    }
  }

  /** Used as a set: the value of an entry means nothing. */
  public final EntryTree<Due<K>, Boolean> dues;

  /** The heap bytes of the dues in leaves that are not settled, without the keys. */
  private final long loose;

  private final long first;

  private DeadlineOrder(EntryTree<Due<K>, Boolean> dues, long loose) {
    this.dues = dues;
    this.loose = loose;
    this.first = dues.isEmpty() ? DeadlineRegister.NEVER : dues.first().millis;
  }

  @SuppressWarnings("unchecked") // holds no key
  static <K extends Comparable<K>> DeadlineOrder<K> none() {
    return (DeadlineOrder<K>) NONE;
  }

  /**
   * Returns the order of many parts.
   *
   * @param dues in any order, each part once; this method sorts them
   * @param keys any store of the type
   */
  static <K extends Comparable<K>> DeadlineOrder<K> of(
      List<Due<K>> dues, EntryStore<?, K, ?> keys) {
    if (dues.isEmpty()) {
      return none();
    }
    dues.sort(null);
    if (dues.size() <= LeafPacking.LOOSE_MAX) {
      Editor<K> order = DeadlineOrder.<K>none().edit();
      dues.forEach(due -> order.put(due.millis, due.key));
      return order.done();
    }
    EntryTree.Loading<Due<K>, Boolean> all = new EntryTree.Loading<>(packing(keys));
    dues.forEach(due -> all.add(due, true));
    return new DeadlineOrder<>(all.done(), 0);
  }

  // ---------------------------------------------------------------- what comes first

  /** Returns when the first part is over; {@link DeadlineRegister#NEVER} if none is. */
  long firstMillis() {
    return first;
  }

  /** Returns the part that is over first; there must be one. */
  K firstKey() {
    return dues.first().key;
  }

  /**
   * Returns the parts that are over by a time, the first one first.
   *
   * @param limit the most parts
   */
  List<K> until(long millis, int limit) {
    List<K> over = new ArrayList<>();
    if (first > millis) {
      return over;
    }
    for (TreeEntry<Due<K>, Boolean> due : dues) {
      if (due.key().millis > millis || over.size() == limit) {
        break;
      }
      over.add(due.key().key);
    }
    return over;
  }

  // ---------------------------------------------------------------- changes

  Editor<K> edit() {
    return new Editor<>(this);
  }

  /** Adds and removes parts, one by one. Not thread-safe. */
  static final class Editor<K extends Comparable<K>> {
    private final TreeEdit<Due<K>, Boolean> dues;
    private long loose;

    private Editor(DeadlineOrder<K> from) {
      dues = from.dues.edit();
      loose = from.loose;
    }

    void put(long millis, K key) {
      if (dues.put(new Due<>(millis, key), true) == null && !dues.isInASettledLeaf()) {
        loose += DUE_BYTES;
      }
    }

    void remove(long millis, K key) {
      if (dues.remove(new Due<>(millis, key)) != null && !dues.isInASettledLeaf()) {
        loose -= DUE_BYTES;
      }
    }

    DeadlineOrder<K> done() {
      EntryTree<Due<K>, Boolean> all = dues.done();
      return all.isEmpty() ? none() : new DeadlineOrder<>(all, loose + dues.loosenedHeapBytes());
    }
  }

  // ---------------------------------------------------------------- packed leaves

  DeadlineOrder<K> packed(EntryStore<?, K, ?> keys) {
    LeafPacking<Due<K>, Boolean> packing = packing(keys);
    EntryTree<Due<K>, Boolean> packed = dues.packed(packing.codec(), packing.replicas());
    return packed == dues ? this : new DeadlineOrder<>(packed, 0);
  }

  /**
   * Returns how leaves are packed. A due contains no replica, so packed leaves are never packed
   * again.
   */
  public static <K extends Comparable<K>> LeafPacking<Due<K>, Boolean> packing(
      EntryStore<?, K, ?> keys) {
    return new LeafPacking<>(new DueCodec<>(keys.codecType()), List.of());
  }

  private record DueCodec<K extends Comparable<K>>(EntryStore<?, K, ?> keys)
      implements LeafCodec<Due<K>, Boolean> {
    @Override
    public void writeKey(WireOutput out, Due<K> due) {
      out.writeNumber(due.millis);
      keys.writeKey(out, due.key);
    }

    @Override
    public void writeCell(WireOutput out, Boolean cell) {}

    @Override
    public Due<K> readKey(WireInput in) {
      return new Due<>(in.readNumber(), keys.readKey(in));
    }

    @Override
    public Boolean readCell(WireInput in, Due<K> key, List<ReplicaId> replicas) {
      return true;
    }

    @Override
    public int compareKey(WireInput in, Due<K> other) {
      int byTime = Long.compare(in.readNumber(), other.millis);
      int byKey = keys.compareKey(in, other.key);
      return byTime != 0 ? byTime : byKey;
    }

    @Override
    public long cellHeapBytes(Due<K> due, Boolean cell) {
      return DUE_BYTES;
    }
  }

  /** Returns about how many bytes of the heap {@link #packed} may make smaller. */
  long looseHeapBytes() {
    return loose;
  }

  /** Returns about how many bytes it takes in the heap, without keys that are not packed. */
  long heapBytes() {
    return dues.isEmpty() ? 0 : HEAP_BYTES + dues.heapBytes() + loose;
  }
}
