package io.osier.crdt.tree;

import io.osier.core.ReplicaId;
import io.osier.core.codec.WireOutput;
import io.osier.core.memory.HeapSize;
import io.osier.crdt.tree.TreeNode.Inner;
import io.osier.crdt.tree.TreeNode.Leaf;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * A persistent sorted map: a B+ tree whose versions share what they have in common. A change copies
 * one leaf and the nodes above it, so it costs O(log n) whatever the map's size, and a walk from
 * any key on, in either direction, costs what it walks. Most maps are small, and are one leaf: two
 * arrays.
 *
 * <p>Keys may be chosen by an enemy: nothing depends on their hashes.
 *
 * <p>After Bayer and McCreight, "Organization and maintenance of large ordered indexes" (1972), and
 * Driscoll, Sarnak, Sleator and Tarjan, "Making data structures persistent" (1989), path copying. A
 * leaf is joined with a neighbour only if both together leave room, so that alternating changes do
 * not split and join them each time.
 *
 * <p>Immutable and safe for any thread.
 */
public final class EntryTree<K extends Comparable<K>, V> implements Iterable<TreeEntry<K, V>> {
  private static final long HEAP_BYTES =
      HeapSize.object(2 * HeapSize.REFERENCE + Integer.BYTES + Long.BYTES);
  private static final long LEAF_BYTES = HeapSize.object(4 * HeapSize.REFERENCE + Integer.BYTES);

  /** About how many bytes an entry takes in a tree: its references, and its share of the nodes. */
  private static final long TREE_ENTRY_BYTES = 2 * HeapSize.REFERENCE + 2;

  /** About how many bytes the least key of a packed leaf takes in the node above. */
  private static final long LOW_BYTES = 64;

  private static final Object[] NOTHING = new Object[0];
  private static final EntryTree<?, ?> EMPTY = emptyMap();

  private final TreeNode root;
  private final int size;

  /** How leaves were packed last; null if none ever was. */
  private final @Nullable LeafPacking<K, V> packing;

  /** The heap bytes of settled leaves, which replace those of their entries. */
  private final long settled;

  private EntryTree(TreeNode root, int size, @Nullable LeafPacking<K, V> packing, long settled) {
    this.root = root;
    this.size = size;
    this.packing = packing;
    this.settled = settled;
  }

  private static <K extends Comparable<K>, V> EntryTree<K, V> emptyMap() {
    return new EntryTree<>(new Leaf(null, NOTHING, NOTHING, 0), 0, null, 0);
  }

  @SuppressWarnings("unchecked") // holds no entry
  public static <K extends Comparable<K>, V> EntryTree<K, V> empty() {
    return (EntryTree<K, V>) EMPTY;
  }

  public int size() {
    return size;
  }

  public boolean isEmpty() {
    return size == 0;
  }

  public TreeNode root() {
    return root;
  }

  /** Returns the map of other nodes, some of which may be this one's. */
  public EntryTree<K, V> with(TreeNode others, int entries, long settledHeapBytes) {
    return new EntryTree<>(others, entries, packing, settledHeapBytes);
  }

  /**
   * Returns about how many bytes the map takes in the heap, with the keys and cells of settled
   * leaves, without those of the others.
   */
  public long heapBytes() {
    if (root instanceof Inner) {
      return HEAP_BYTES + size * TREE_ENTRY_BYTES + settled;
    }
    return size == 0
        ? 0
        : HEAP_BYTES + LEAF_BYTES + 2 * HeapSize.array(size, HeapSize.REFERENCE) + settled;
  }

  /** Returns the part of {@link #heapBytes} that belongs to settled leaves. */
  long settledHeapBytes() {
    return settled;
  }

  /** Returns a settled leaf's share of that; a packed one has no references to its entries. */
  static long settledHeapBytes(TreeNode leaf, LeafPacking<?, ?> packing) {
    return leaf instanceof PackedLeaf packed
        ? LOW_BYTES + packed.heapBytes() - packed.size * TREE_ENTRY_BYTES
        : ((Leaf) leaf).entriesHeapBytes(packing);
  }

  /** Returns the key's cell; null if there is none. */
  @SuppressWarnings("unchecked") // only cells are in there
  public @Nullable V get(K key) {
    return (V) TreeNode.find(root, key);
  }

  /**
   * Returns the key's cell if nothing has to be decoded for it; null if there is none, or the leaf
   * is packed.
   */
  @SuppressWarnings("unchecked") // only cells are in there
  public @Nullable V unpacked(K key) {
    return (V) TreeNode.findUnpacked(root, key);
  }

  /**
   * Returns the entry at a rank. Costs O(log n), plus the counting of nodes that were changed since
   * the last call on this map or on one that it was made of, a leaf at a time.
   *
   * @param rank from 0, less than {@link #size}
   */
  @SuppressWarnings("unchecked") // a key and its cell
  public TreeEntry<K, V> at(int rank) {
    Objects.checkIndex(rank, size);
    TreeNode node = root;
    int left = rank;
    while (node instanceof Inner inner) {
      int i = 0;
      for (int in = 0; left >= (in = TreeNode.entryCount(inner.children[i])); i++) {
        left -= in;
      }
      node = inner.children[i];
    }
    Leaf leaf = TreeNode.entries(node);
    return new TreeEntry<>((K) leaf.keys[left], (V) leaf.cells[left]);
  }

  /** Returns the least key; there must be one. */
  @SuppressWarnings("unchecked") // only keys are in there
  public K first() {
    TreeNode node = root;
    while (node instanceof Inner inner) {
      node = inner.children[0];
    }
    return (K) (node instanceof PackedLeaf packed ? packed.low() : ((Leaf) node).keys[0]);
  }

  /** Returns an edit, for many changes at once. */
  public TreeEdit<K, V> edit() {
    return new TreeEdit<>(this);
  }

  public EntryTree<K, V> put(K key, V cell) {
    TreeEdit<K, V> edit = edit();
    edit.put(key, cell);
    return edit.done();
  }

  EntryTree<K, V> remove(K key) {
    TreeEdit<K, V> edit = edit();
    edit.remove(key);
    return edit.done();
  }

  // ---------------------------------------------------------------- packed leaves

  /**
   * Returns an equal map whose leaves are settled, if there are several, or one that is large.
   * Settled leaves are reused, and subtrees of settled leaves are not even looked at.
   *
   * @return this if there is nothing to do
   */
  public EntryTree<K, V> packed(LeafCodec<K, V> codec, List<ReplicaId> replicas) {
    LeafPacking<K, V> by =
        packing != null && packing.replicas().equals(replicas)
            ? packing
            : new LeafPacking<>(codec, replicas);
    if (by.isLike(root.settled())) {
      return this;
    }
    if (root instanceof Leaf leaf) {
      if (leaf.entriesHeapBytes(by) <= LeafPacking.BYTES_MAX) {
        return this;
      }
      Leaf made = Leaf.settled(by, leaf.keys, leaf.cells, leaf.size);
      return new EntryTree<>(made, size, by, settledHeapBytes(made, by));
    }
    long[] sum = {settled};
    TreeNode made = settled(root, by, sum);
    return new EntryTree<>(made, size, by, sum[0]);
  }

  private static TreeNode settled(TreeNode node, LeafPacking<?, ?> by, long[] sum) {
    LeafPacking<?, ?> before = node.settled();
    if (by.isLike(before)) {
      return node;
    }
    if (node instanceof Inner inner) {
      TreeNode[] children = inner.children.clone();
      for (int i = 0; i < children.length; i++) {
        children[i] = settled(children[i], by, sum);
      }
      return Inner.settled(by, inner.lows, children);
    }
    Leaf entries = TreeNode.entries(node);
    TreeNode made = PackedLeaf.of(by, entries.keys, entries.cells, entries.size);
    sum[0] += settledHeapBytes(made, by) - (before == null ? 0 : settledHeapBytes(node, before));
    return made;
  }

  /** Builds a map with packed leaves from entries that come in ascending order. Not thread-safe. */
  public static final class Loading<K extends Comparable<K>, V> {
    private final LeafPacking<K, V> packing;
    private final List<Object> lows = new ArrayList<>();
    private final List<TreeNode> leaves = new ArrayList<>();
    private final Object[] keys = new Object[TreeNode.LEAF_MAX];
    private final Object[] cells = new Object[TreeNode.LEAF_MAX];
    private int next;
    private int size;
    private long settled;

    public Loading(LeafPacking<K, V> packing) {
      this.packing = packing;
    }

    /** Adds an entry whose key is greater than those before. */
    public void add(K key, V cell) {
      if (next == TreeNode.LEAF_MAX) {
        finishLeaf();
      }
      keys[next] = key;
      cells[next] = cell;
      next++;
      size++;
    }

    private void finishLeaf() {
      TreeNode leaf = PackedLeaf.of(packing, keys, cells, next);
      settled += settledHeapBytes(leaf, packing);
      lows.add(keys[0]);
      leaves.add(leaf);
      next = 0;
    }

    /** Returns the map; at least one entry must have been added. Nothing may be added any more. */
    public EntryTree<K, V> done() {
      finishLeaf();
      List<Object> least = lows;
      List<TreeNode> level = leaves;
      while (level.size() > 1) {
        List<Object> leastAbove = new ArrayList<>();
        List<TreeNode> above = new ArrayList<>();
        for (int from = 0; from < level.size(); from += TreeNode.CHILDREN_MAX) {
          int to = Math.min(level.size(), from + TreeNode.CHILDREN_MAX);
          leastAbove.add(least.get(from));
          above.add(
              Inner.settled(
                  packing,
                  least.subList(from, to).toArray(),
                  level.subList(from, to).toArray(new TreeNode[0])));
        }
        least = leastAbove;
        level = above;
      }
      return new EntryTree<>(level.getFirst(), size, packing, settled);
    }
  }

  /**
   * Writes all entries in their order; copies the bytes of packed leaves if replicas are numbered
   * alike.
   */
  public void write(WireOutput out, LeafCodec<K, V> codec) {
    new Writing<>(out, codec).write(root);
  }

  /** Leaves share their list of replicas, so mostly it is compared only once. */
  private static final class Writing<K extends Comparable<K>, V> {
    private final WireOutput out;
    private final LeafCodec<K, V> codec;
    private @Nullable List<ReplicaId> compared;
    private boolean areEqual;

    Writing(WireOutput out, LeafCodec<K, V> codec) {
      this.out = out;
      this.codec = codec;
    }

    @SuppressWarnings("unchecked") // only such keys and cells are in there
    void write(TreeNode node) {
      if (node instanceof Inner inner) {
        for (TreeNode child : inner.children) {
          write(child);
        }
        return;
      }
      if (node instanceof PackedLeaf packed && isNumberedAlike(packed.settled().replicas())) {
        packed.copyTo(out);
        return;
      }
      Leaf leaf = TreeNode.entries(node);
      for (int i = 0; i < leaf.size; i++) {
        codec.writeKey(out, (K) leaf.keys[i]);
        codec.writeCell(out, (V) leaf.cells[i]);
      }
    }

    private boolean isNumberedAlike(List<ReplicaId> replicas) {
      if (replicas != compared) {
        compared = replicas;
        areEqual = out.numbersFirst(replicas);
      }
      return areEqual;
    }
  }

  // ---------------------------------------------------------------- walks

  /** Walks over all entries in the order of the keys. */
  @Override
  public Iterator<TreeEntry<K, V>> iterator() {
    return new TreeWalk<>(root, null, false);
  }

  /** Walks over the entries from a key on, which is included, in ascending order. */
  public Iterator<TreeEntry<K, V>> from(K key) {
    return new TreeWalk<>(root, key, false);
  }

  /** Returns the entries from one key to another, both included. Efficient if they are few. */
  public List<TreeEntry<K, V>> between(K least, K most) {
    return TreeRange.of(this, least, most);
  }

  /**
   * Walks over the entries from a key down, which is included, in descending order.
   *
   * @param key null for all
   */
  public Iterator<TreeEntry<K, V>> downFrom(@Nullable K key) {
    return new TreeWalk<>(root, key, true);
  }

  @Override
  public boolean equals(Object o) {
    if (!(o instanceof EntryTree<?, ?> m) || size != m.size) {
      return o == this;
    }
    if (root == m.root) {
      return true;
    }
    Iterator<?> others = m.iterator(); // trees of one content may have different nodes
    for (TreeEntry<K, V> entry : this) {
      if (!entry.equals(others.next())) {
        return false;
      }
    }
    return true;
  }

  @Override
  public int hashCode() {
    int hash = 0;
    for (TreeEntry<K, V> entry : this) {
      hash = 31 * hash + Objects.hash(entry.key(), entry.cell());
    }
    return hash;
  }

  @Override
  public String toString() {
    StringJoiner text = new StringJoiner(", ", "{", "}");
    forEach(entry -> text.add(entry.toString()));
    return text.toString();
  }
}
