package io.osier.crdt.tree;

import static io.osier.crdt.tree.TreeNode.CHILDREN_MAX;
import static io.osier.crdt.tree.TreeNode.LEAF_MAX;

import io.osier.crdt.tree.TreeNode.Inner;
import io.osier.crdt.tree.TreeNode.Leaf;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An {@link EntryTree} that is being changed: each node is copied once, for all changes. A few
 * changes of a packed leaf are made in its bytes ({@link LeafPlace}); for more, or for changes that
 * do not fit, it is unpacked. Not thread-safe.
 */
public final class TreeEdit<K extends Comparable<K>, V> {
  /** A node below its maximum over this is joined with a neighbour if both fill at most 3/4. */
  private static final int FEW = 4;

  /**
   * Up to this many consecutive changes of a packed leaf are made in its bytes. Unpacking it and
   * packing it again later costs about 8 µs more than one of them.
   */
  static final int SPLICES_MAX = 8;

  /**
   * A larger packed leaf that has a mark is divided before an entry is put into it, since each
   * change copies all of it.
   */
  static final int SPLICED_BYTES_MAX = 4_096;

  private EntryTree<K, V> map;
  private TreeNode root;
  private int size;

  /** Marks the nodes that this edit may change: those it made since the map was last returned. */
  private Object owner = new Object();

  /** The leaves among those nodes. */
  private List<Leaf> leaves = new ArrayList<>(1);

  /** See {@link EntryTree#settledHeapBytes}. */
  private long settled;

  /** See {@link #loosenedHeapBytes}. */
  private long loosened;

  /** The packed leaf that was changed last, as it is now; {@link #splices} counts its changes. */
  private @Nullable PackedLeaf spliced;

  private int splices;

  private boolean isSettled;

  /** The node that was split off to the right of the one that was put into; null if none was. */
  private @Nullable TreeNode split;

  /** The key's cell before it was put, or removed. */
  private @Nullable Object former;

  TreeEdit(EntryTree<K, V> map) {
    this.map = map;
    this.root = map.root();
    this.size = map.size();
    this.settled = map.settledHeapBytes();
  }

  @SuppressWarnings("unchecked") // only cells are in there
  public @Nullable V get(K key) {
    return (V) TreeNode.find(root, key);
  }

  /** Puts a key's cell; returns the former one, or null. */
  public @Nullable V put(K key, V cell) {
    return change(key, before -> cell);
  }

  /** Replaces a key's cell by a function's result for it, or for null; returns the former one. */
  @SuppressWarnings("unchecked") // only cells are in there
  public @Nullable V change(K key, Function<@Nullable V, V> cell) {
    isSettled = false;
    TreeNode node = put(root, key, cell, true);
    if (split != null) {
      Object[] lows = {TreeNode.low(node), TreeNode.low(split)};
      node = new Inner(node.settled(), owner, lows, new TreeNode[] {node, split});
      ((Inner) node).settleWith(split);
      split = null;
    }
    root = node;
    return (V) former;
  }

  private TreeNode put(TreeNode node, K key, Function<@Nullable V, V> cell, boolean isLast) {
    return switch (node) {
      case Inner inner -> put(inner, key, cell, isLast);
      case Leaf leaf -> put(leaf, key, cell, isLast);
      case PackedLeaf leaf -> put(leaf, key, cell, isLast);
    };
  }

  private TreeNode put(PackedLeaf leaf, K key, Function<@Nullable V, V> cell, boolean isLast) {
    if (!maySplice(leaf)) {
      return put(own(leaf), key, cell, isLast);
    }
    LeafPlace<K, V> place = leaf.place(key);
    return isFull(leaf, place)
        ? putIntoFull(leaf, isLast && place.isBehindAll(), key, cell)
        : put(leaf, place, key, cell);
  }

  /** Puts a key at its position, without dividing the leaf. */
  private TreeNode put(
      PackedLeaf leaf, LeafPlace<K, V> place, K key, Function<@Nullable V, V> make) {
    V cell = make.apply(place.cell());
    PackedLeaf made = place.with(cell);
    if (made == null) {
      return put(own(leaf), key, before -> cell, false);
    }
    former = place.cell();
    size += made.size - leaf.size;
    return spliced(leaf, made);
  }

  /** Whether a packed leaf is divided before a key is put into it. */
  private boolean isFull(PackedLeaf leaf, LeafPlace<K, V> place) {
    return leaf.bytes.length > SPLICED_BYTES_MAX
        ? leaf.marks.length > 0
        : leaf.size == LEAF_MAX && place.cell() == null;
  }

  private TreeNode putIntoFull(
      PackedLeaf leaf, boolean isBehindAll, K key, Function<@Nullable V, V> cell) {
    if (isBehindAll) { // it stays full, as an unpacked one does
      former = null;
      size++;
      split = owned(new Object[] {key}, new Object[] {cell.apply(null)}, 1);
      return leaf;
    }
    int at = leaf.middle();
    PackedLeaf left = leaf.before(at);
    PackedLeaf right = leaf.from(at, leaf.size - left.size);
    settled += EntryTree.settledHeapBytes(left, left.settled());
    settled += EntryTree.settledHeapBytes(right, right.settled());
    settled -= EntryTree.settledHeapBytes(leaf, leaf.settled());
    LeafPlace<K, V> place = right.place(key);
    if (place.isFirst() && place.cell() == null) {
      split = right;
      return put(left, left.place(key), key, cell);
    }
    split = put(right, place, key, cell);
    return left;
  }

  private boolean maySplice(PackedLeaf leaf) {
    return leaf != spliced || splices < SPLICES_MAX;
  }

  private PackedLeaf spliced(PackedLeaf from, PackedLeaf to) {
    splices = from == spliced ? splices + 1 : 1;
    spliced = to;
    isSettled = true;
    settled += EntryTree.settledHeapBytes(to, to.settled());
    settled -= EntryTree.settledHeapBytes(from, from.settled());
    return to;
  }

  @SuppressWarnings("unchecked") // only cells are in there
  private TreeNode put(Leaf leaf, K key, Function<@Nullable V, V> make, boolean isLast) {
    int i = TreeNode.find(leaf.keys, 0, leaf.size, key);
    V before = i < 0 ? null : (V) leaf.cells[i];
    V cell = make.apply(before);
    former = before;
    if (former == cell) {
      return leaf;
    }
    Leaf own = own(leaf);
    if (i >= 0) {
      own.cells[i] = cell;
      return own;
    }
    int at = -i - 1;
    size++;
    if (own.size < LEAF_MAX) {
      own.insert(at, key, cell);
      return own;
    }
    // Entries that come in ascending order, as from a state that is read, leave full leaves behind.
    int left = isLast && at == LEAF_MAX ? LEAF_MAX : LEAF_MAX / 2;
    Leaf right =
        owned(
            Arrays.copyOfRange(own.keys, left, LEAF_MAX),
            Arrays.copyOfRange(own.cells, left, LEAF_MAX),
            LEAF_MAX - left);
    Arrays.fill(own.keys, left, LEAF_MAX, null);
    Arrays.fill(own.cells, left, LEAF_MAX, null);
    own.size = left;
    if (at < left || (at == left && left < LEAF_MAX)) {
      own.insert(at, key, cell);
    } else {
      right.insert(at - left, key, cell);
    }
    split = right;
    return own;
  }

  private TreeNode put(Inner inner, K key, Function<@Nullable V, V> cell, boolean isLast) {
    int i = inner.childOf(key);
    TreeNode child = put(inner.children[i], key, cell, isLast && i == inner.children.length - 1);
    TreeNode right = split;
    split = null;
    if (right == null && child == inner.children[i]) {
      return inner;
    }
    Inner own = own(inner);
    own.children[i] = child;
    own.settleWith(child);
    if (right != null) {
      own.insert(i + 1, TreeNode.low(right), right);
      own.settleWith(right);
      if (own.children.length > CHILDREN_MAX) {
        boolean isInOrder = isLast && i + 2 == own.children.length;
        split = own.splitOff(isInOrder ? CHILDREN_MAX : CHILDREN_MAX / 2);
      }
    }
    return own;
  }

  /** Removes a key; returns its former cell, or null. */
  @SuppressWarnings("unchecked") // only cells are in there
  public @Nullable V remove(K key) {
    isSettled = false;
    root = remove(root, key);
    if (former != null) {
      size--;
      while (root instanceof Inner inner && inner.children.length == 1) {
        root = inner.children[0];
      }
    }
    return (V) former;
  }

  private TreeNode remove(TreeNode node, K key) {
    return switch (node) {
      case Inner inner -> remove(inner, key);
      case Leaf leaf -> remove(leaf, key);
      case PackedLeaf leaf -> remove(leaf, key);
    };
  }

  private TreeNode remove(PackedLeaf leaf, K key) {
    LeafPlace<K, V> place = leaf.place(key);
    former = place.cell();
    if (former == null) {
      return leaf;
    }
    // A packed leaf has at least one entry, since an empty one would be dropped without being
    // counted.
    return leaf.size > 1 && maySplice(leaf)
        ? spliced(leaf, place.without())
        : remove(own(leaf), key);
  }

  private TreeNode remove(Leaf leaf, K key) {
    int i = TreeNode.find(leaf.keys, 0, leaf.size, key);
    former = i < 0 ? null : leaf.cells[i];
    if (i < 0) {
      return leaf;
    }
    Leaf own = own(leaf);
    own.remove(i);
    return own;
  }

  private TreeNode remove(Inner inner, K key) {
    int i = inner.childOf(key);
    TreeNode child = remove(inner.children[i], key);
    if (former == null) {
      return inner;
    }
    Inner own = own(inner);
    own.children[i] = child;
    own.settleWith(child);
    if (TreeNode.sizeOf(child) == 0) {
      own.remove(i);
    } else if (TreeNode.sizeOf(child) < TreeNode.maxOf(child) / FEW) {
      joinWithANeighbour(own, i);
    }
    return own;
  }

  private void joinWithANeighbour(Inner parent, int i) {
    for (int left : new int[] {i - 1, i}) {
      if (left >= 0 && left + 1 < parent.children.length) {
        TreeNode a = parent.children[left];
        TreeNode b = parent.children[left + 1];
        if (TreeNode.sizeOf(a) + TreeNode.sizeOf(b) <= TreeNode.maxOf(a) * 3 / FEW
            && TreeNode.packedBytes(a) + TreeNode.packedBytes(b) <= SPLICED_BYTES_MAX * 3 / FEW) {
          parent.children[left] = joined(a, b, parent.lows[left + 1]);
          parent.settleWith(parent.children[left]);
          parent.remove(left + 1);
          return;
        }
      }
    }
  }

  private TreeNode joined(TreeNode left, TreeNode right, Object rightLow) {
    if (left instanceof Inner a) {
      Inner b = (Inner) right;
      int n = a.children.length;
      int m = b.children.length;
      Object[] lows = TreeNode.concat(a.lows, n, b.lows, m, new Object[n + m]);
      lows[n] = rightLow; // the low of b's first child did not matter before, and now does
      TreeNode[] children = TreeNode.concat(a.children, n, b.children, m, new TreeNode[n + m]);
      Inner both = new Inner(a.settled(), owner, lows, children);
      both.settleWith(b);
      return both;
    }
    Leaf a = loose(left);
    Leaf b = loose(right);
    return owned(
        TreeNode.concat(a.keys, a.size, b.keys, b.size, new Object[a.size + b.size]),
        TreeNode.concat(a.cells, a.size, b.cells, b.size, new Object[a.size + b.size]),
        a.size + b.size);
  }

  private Leaf loose(TreeNode leaf) {
    return leaf.settled() == null ? (Leaf) leaf : own(leaf);
  }

  private Leaf own(TreeNode leaf) {
    Leaf own;
    if (leaf instanceof PackedLeaf packed) {
      own = packed.unpacked(owner, roomIn(packed.size));
      leaves.add(own);
    } else {
      Leaf known = (Leaf) leaf;
      if (known.owner == owner) {
        return known;
      }
      int room = roomIn(known.size);
      own = owned(Arrays.copyOf(known.keys, room), Arrays.copyOf(known.cells, room), known.size);
    }
    LeafPacking<?, ?> packing = leaf.settled();
    if (packing != null) {
      settled -= EntryTree.settledHeapBytes(leaf, packing);
      loosened += own.entriesHeapBytes(packing);
    }
    return own;
  }

  /** Has room for one more entry, since mostly that is all that changes. */
  private static int roomIn(int size) {
    return Math.min(LEAF_MAX, size + 1);
  }

  private Leaf owned(Object[] keys, Object[] cells, int entries) {
    Leaf made = new Leaf(owner, keys, cells, entries);
    leaves.add(made);
    return made;
  }

  private Inner own(Inner inner) {
    return inner.owner == owner
        ? inner
        : new Inner(inner.settled(), owner, inner.lows.clone(), inner.children.clone());
  }

  /**
   * Returns the heap bytes of the entries of leaves that were settled and are no longer, as of the
   * moment of that change.
   */
  public long loosenedHeapBytes() {
    return loosened;
  }

  /**
   * Whether the entry that was put or removed last is in a leaf that is still settled: then the
   * map's own accounts include its heap bytes.
   */
  public boolean isInASettledLeaf() {
    return isSettled;
  }

  /** Returns the map with all changes so far. */
  public EntryTree<K, V> done() {
    if (root != map.root()) {
      leaves.forEach(Leaf::finish);
      leaves = new ArrayList<>(1);
      owner = new Object();
      spliced = null;
      map = size == 0 ? EntryTree.empty() : map.with(root, size, settled);
      root = map.root();
    }
    return map;
  }
}
