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
 * Driscoll, Sarnak, Sleator and Tarjan, "Making data structures persistent" (1989), path copying.
 * Leaves are joined with a neighbour only when both together leave room, so that changes to and fro
 * do not split and join them each time.
 *
 * <p>Immutable and safe for any thread.
 */
public final class EntryTree<K extends Comparable<K>, V> implements Iterable<TreeEntry<K, V>> {
  private static final long HEAP_BYTES =
      HeapSize.object(2 * HeapSize.REFERENCE + Integer.BYTES + Long.BYTES);
  private static final long LEAF_BYTES = HeapSize.object(4 * HeapSize.REFERENCE + Integer.BYTES);

  /** What an entry takes in a tree, about: its references, and its part of the nodes. */
  private static final long TREE_ENTRY_BYTES = 2 * HeapSize.REFERENCE + 2;

  /** The least key of a packed leaf, which the node above has, about. */
  private static final long LOW_BYTES = 64;

  private static final Object[] NOTHING = new Object[0];
  private static final EntryTree<?, ?> EMPTY = emptyMap();

  private final TreeNode root;
  private final int size;

  /** How leaves were packed last; null if none ever was. */
  private final @Nullable LeafPacking<K, V> packing;

  /** What settled leaves take in the heap, instead of what their entries would. */
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

  /** The map of other nodes, some of which may be this one's. */
  public EntryTree<K, V> with(TreeNode others, int entries, long settledHeapBytes) {
    return new EntryTree<>(others, entries, packing, settledHeapBytes);
  }

  /**
   * What the map takes in the heap, about, in bytes: with the keys and cells of leaves that are
   * settled, without those of the others.
   */
  public long heapBytes() {
    if (root instanceof Inner) {
      return HEAP_BYTES + size * TREE_ENTRY_BYTES + settled;
    }
    return size == 0
        ? 0
        : HEAP_BYTES + LEAF_BYTES + 2 * HeapSize.array(size, HeapSize.REFERENCE) + settled;
  }

  /** The part of {@link #heapBytes} that is of settled leaves. */
  long settledHeapBytes() {
    return settled;
  }

  /** A settled leaf's part of that; a packed one has no references to its entries. */
  static long settledHeapBytes(TreeNode leaf, LeafPacking<?, ?> packing) {
    return leaf instanceof PackedLeaf packed
        ? LOW_BYTES + packed.heapBytes() - packed.size * TREE_ENTRY_BYTES
        : ((Leaf) leaf).entriesHeapBytes(packing);
  }

  /** The key's cell, or null. */
  @SuppressWarnings("unchecked") // only cells are in there
  public @Nullable V get(K key) {
    return (V) TreeNode.find(root, key);
  }

  /**
   * The key's cell, or null, where nothing has to be read for it: of those in packed leaves, which
   * are small, none is returned.
   */
  @SuppressWarnings("unchecked") // only cells are in there
  public @Nullable V unpacked(K key) {
    return (V) TreeNode.findUnpacked(root, key);
  }

  /**
   * The entry before which there are so many. Costs O(log n), but for what was changed since this
   * was asked of the map or one that it was made of: that is counted first, a leaf at a time.
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

  /** The least key; there must be one. */
  @SuppressWarnings("unchecked") // only keys are in there
  public K first() {
    TreeNode node = root;
    while (node instanceof Inner inner) {
      node = inner.children[0];
    }
    return (K) (node instanceof PackedLeaf packed ? packed.low() : ((Leaf) node).keys[0]);
  }

  /** For many changes at once. */
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
   * An equal map whose leaves are settled, if there is more than one, or one that is large. Those
   * that are settled already are taken over, and what has only such ones below is not even looked
   * at.
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

  /** Collects entries that come in their order into packed leaves. Not thread-safe. */
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

    /** The map; at least one entry was added. Nothing is added any more. */
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

  /** Writes all entries in their order, of packed leaves their bytes if replicas allow it. */
  public void write(WireOutput out, LeafCodec<K, V> codec) {
    new Writing<>(out, codec).write(root);
  }

  /** Leaves share their list of replicas, so mostly it is compared once. */
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

  /** All entries in the order of the keys. */
  @Override
  public Iterator<TreeEntry<K, V>> iterator() {
    return new TreeWalk<>(root, null, false);
  }

  /** The entries from a key on, that included, in the order of the keys. */
  public Iterator<TreeEntry<K, V>> from(K key) {
    return new TreeWalk<>(root, key, false);
  }

  /** The entries from one key to another, both included, if they are few. */
  public List<TreeEntry<K, V>> between(K least, K most) {
    return TreeRange.of(this, least, most);
  }

  /**
   * The entries from a key down, that included, the greatest key first.
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
