package io.osier.crdt.types;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.crdt.UpdateContext;
import io.osier.crdt.tree.EntrySource;
import io.osier.crdt.tree.EntryTree;
import io.osier.crdt.tree.KeyBounds;
import io.osier.crdt.tree.LeafPacking;
import io.osier.crdt.tree.RecentKeys;
import io.osier.crdt.tree.TreeEdit;
import io.osier.crdt.tree.TreeEntry;
import io.osier.crdt.tree.TreeNode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The content of a {@link EntryStore}: its map and the sums over it.
 *
 * @param map of a decomposed object, only the entries that changed
 * @param behind the other entries; null where all are in the map
 * @param bytes the sum of {@link EntryStore#cellBytes}
 * @param heap the sum of {@link EntryStore#cellHeapBytes} of those entries that the map itself does
 *     not count
 * @param visible the number of cells that a reader sees
 * @param lasting the number of cells of which something is left after they are trimmed
 */
record EntryContent<K extends Comparable<K>, V>(
    EntryTree<K, V> map,
    @Nullable BackingStore<K, V> behind,
    long bytes,
    long heap,
    int visible,
    int lasting) {
  /** More bytes than any object has, and few enough to add some of them without overflow. */
  private static final long SUM_MAX = 1L << 50;

  static <K extends Comparable<K>, V> EntryContent<K, V> none() {
    return new EntryContent<>(EntryTree.<K, V>empty(), null, 0, 0, 0, 0);
  }

  /** Returns the content of one cell. */
  static <K extends Comparable<K>, V> EntryContent<K, V> one(EntryType<K, V> type, K key, V cell) {
    return new EntryContent<>(
        EntryTree.<K, V>empty().put(key, cell),
        null,
        type.cellBytes(key, cell),
        type.cellHeapBytes(key, cell),
        type.isVisible(cell) ? 1 : 0,
        type.isLasting(cell) ? 1 : 0);
  }

  /** Returns the delta that resets a map which is one leaf: its keys are reused. */
  @SuppressWarnings("unchecked") // only such keys and cells are in there
  static <K extends Comparable<K>, V> EntryContent<K, V> reset(
      EntryType<K, V> type, TreeNode.Leaf leaf, UpdateContext preparation) {
    Object[] reset = new Object[leaf.size];
    Sums<K, V> sums = new Sums<>(type, true);
    for (int i = 0; i < leaf.size; i++) {
      K key = (K) leaf.keys[i];
      V cell = type.resetCell((V) leaf.cells[i], preparation);
      reset[i] = cell;
      sums.add(key, cell);
    }
    TreeNode root = new TreeNode.Leaf(null, leaf.keys, reset, leaf.size);
    EntryTree<K, V> map =
        leaf.size == 0 ? EntryTree.empty() : EntryTree.<K, V>empty().with(root, leaf.size, 0);
    return sums.over(map);
  }

  /** Returns the same content with the given parts in memory and outside. */
  EntryContent<K, V> of(
      EntryType<K, V> type, EntryTree<K, V> inMemory, @Nullable BackingStore<K, V> outside) {
    long loose = 0;
    for (TreeEntry<K, V> entry : inMemory) {
      loose += type.cellHeapBytes(entry.key(), entry.cell());
    }
    return new EntryContent<>(inMemory, outside, bytes, loose, visible, lasting);
  }

  static <K extends Comparable<K>, V> EntryContent<K, V> read(
      EntryType<K, V> type, WireInput in, List<ReplicaId> replicas) {
    int n = in.readCount(type.entryBytesMin());
    EntryTree.Loading<K, V> packed =
        n > LeafPacking.LOOSE_MAX && !replicas.isEmpty()
            ? new EntryTree.Loading<>(new LeafPacking<>(type.codecType(), replicas))
            : null;
    TreeEdit<K, V> loose = EntryTree.<K, V>empty().edit();
    Sums<K, V> sums = new Sums<>(type, packed == null);
    K before = null;
    for (int i = 0; i < n; i++) {
      K key = readKey(type, in, before);
      V cell = type.readCell(in, key, replicas);
      if (packed == null) {
        V unused = loose.put(key, cell);
      } else {
        packed.add(key, cell);
      }
      sums.add(key, cell);
      before = key;
    }
    return sums.over(packed == null ? loose.done() : packed.done());
  }

  /** Sums over the entries of a map that is being made. */
  private static final class Sums<K extends Comparable<K>, V> {
    private final EntryType<K, V> type;

    /** Whether the map does not count what its entries take of the heap. */
    private final boolean loose;

    private long bytes;
    private long heap;
    private int visible;
    private int lasting;

    Sums(EntryType<K, V> type, boolean loose) {
      this.type = type;
      this.loose = loose;
    }

    void add(K key, V cell) {
      bytes += type.cellBytes(key, cell);
      heap += loose ? type.cellHeapBytes(key, cell) : 0;
      visible += type.isVisible(cell) ? 1 : 0;
      lasting += type.isLasting(cell) ? 1 : 0;
    }

    EntryContent<K, V> over(EntryTree<K, V> map) {
      return new EntryContent<>(map, null, bytes, heap, visible, lasting);
    }
  }

  private static <K extends Comparable<K>> K readKey(
      EntryType<K, ?> type, WireInput in, @Nullable K before) {
    K key = type.readKey(in);
    if (before != null && before.compareTo(key) >= 0) {
      throw new MalformedException("elements or fields are not in order");
    }
    return key;
  }

  static <K extends Comparable<K>, V> EntryContent<K, V> readSums(
      EntryType<K, V> type, WireInput in, EntrySource source, CausalContext context) {
    int size = readSum(in);
    long sum = in.readNumber();
    int seen = readSum(in);
    int left = readSum(in);
    if (seen > size || left > size || (long) size * type.entryBytesMin() > sum || sum > SUM_MAX) {
      throw new MalformedException(
          ("malformed tree of entries: %d entries with %d bytes, of which %d are visible"
                  + " and %d would remain after trimming")
              .formatted(size, sum, seen, left));
    }
    BackingStore<K, V> back =
        new BackingStore<>(
            new BackingEntries<>(type.codecType(), source, KeyBounds.UNKNOWN),
            size,
            RecentKeys.since(context));
    return new EntryContent<>(EntryTree.empty(), back, sum, 0, seen, left);
  }

  private static int readSum(WireInput in) {
    long sum = in.readNumber();
    if (sum < 0 || sum > Integer.MAX_VALUE) {
      throw new MalformedException("an object has " + sum + " entries");
    }
    return (int) sum;
  }
}
