package io.osier.crdt.tree;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A node of an {@link EntryTree}: a leaf, a packed leaf, or an inner node. Only the {@link
 * TreeEdit} that made it may change it, while that is open.
 *
 * <p>A node is <em>settled</em> if packing would leave it unchanged: a packed leaf, a leaf that was
 * found to be too large for that, and an inner node above only such leaves.
 */
public abstract sealed class TreeNode permits TreeNode.Leaf, TreeNode.Inner, PackedLeaf {
  /** The most entries of a leaf. */
  static final int LEAF_MAX = 128;

  /** The most children of an inner node. */
  static final int CHILDREN_MAX = 64;

  /** Returns the packing for which it is settled; null if it is not. */
  abstract @Nullable LeafPacking<?, ?> settled();

  /** Returns how many entries are below a node that nobody changes any more. */
  static int entryCount(TreeNode node) {
    return switch (node) {
      case Leaf leaf -> leaf.size;
      case PackedLeaf leaf -> leaf.size;
      case Inner inner -> inner.entryCount();
    };
  }

  /** Returns how many bytes the entries of a packed leaf take; 0 for other nodes. */
  static int packedBytes(TreeNode node) {
    return node instanceof PackedLeaf packed ? packed.bytes.length : 0;
  }

  /** Returns the index of a key within a range of indices, or -(its insertion point) - 1. */
  @SuppressWarnings("unchecked") // only keys are in there
  static <K extends Comparable<K>> int find(Object[] keys, int from, int to, K key) {
    int low = from;
    int high = to - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int order = ((K) keys[middle]).compareTo(key);
      if (order == 0) {
        return middle;
      } else if (order < 0) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return -low - 1;
  }

  /** Returns the cell of a key below a node; null if there is none. */
  static <K extends Comparable<K>> @Nullable Object find(TreeNode root, K key) {
    TreeNode node = root;
    while (node instanceof Inner inner) {
      node = inner.children[inner.childOf(key)];
    }
    return node instanceof PackedLeaf packed ? packed.place(key).cell() : find((Leaf) node, key);
  }

  /** As {@link #find}, but null if the leaf is packed. */
  static <K extends Comparable<K>> @Nullable Object findUnpacked(TreeNode root, K key) {
    TreeNode node = root;
    while (node instanceof Inner inner) {
      node = inner.children[inner.childOf(key)];
    }
    return node instanceof Leaf leaf ? find(leaf, key) : null;
  }

  private static <K extends Comparable<K>> @Nullable Object find(Leaf leaf, K key) {
    int i = find(leaf.keys, 0, leaf.size, key);
    return i < 0 ? null : leaf.cells[i];
  }

  /** Returns the entries of a leaf; those of a packed one are decoded. */
  static Leaf entries(TreeNode leaf) {
    return leaf instanceof PackedLeaf packed ? packed.unpacked(null, packed.size) : (Leaf) leaf;
  }

  /** Sorted keys and their cells. The arrays of a leaf that is being changed may be longer. */
  public static final class Leaf extends TreeNode {
    private final @Nullable LeafPacking<?, ?> settled;
    @Nullable Object owner;
    public Object[] keys;
    public Object[] cells;
    public int size;

    public Leaf(@Nullable Object owner, Object[] keys, Object[] cells, int size) {
      this(null, owner, keys, cells, size);
    }

    private Leaf(
        @Nullable LeafPacking<?, ?> settled,
        @Nullable Object owner,
        Object[] keys,
        Object[] cells,
        int size) {
      this.settled = settled;
      this.owner = owner;
      this.keys = keys;
      this.cells = cells;
      this.size = size;
    }

    /** Returns a leaf that is too large to be packed, with its cells packed where possible. */
    static Leaf settled(LeafPacking<?, ?> packing, Object[] keys, Object[] cells, int size) {
      Object[] packed = packing.packedCells(cells, size);
      return new Leaf(packing, null, Arrays.copyOf(keys, size), packed, size);
    }

    /** Returns about how many bytes its entries take in the heap. */
    long entriesHeapBytes(LeafPacking<?, ?> packing) {
      return packing.entriesHeapBytes(keys, cells, size);
    }

    @Override
    @Nullable LeafPacking<?, ?> settled() {
      return settled;
    }

    void insert(int at, Object key, Object cell) {
      if (size == keys.length) {
        int length = Math.min(LEAF_MAX, Math.max(4, 2 * size));
        keys = Arrays.copyOf(keys, length);
        cells = Arrays.copyOf(cells, length);
      }
      System.arraycopy(keys, at, keys, at + 1, size - at);
      System.arraycopy(cells, at, cells, at + 1, size - at);
      keys[at] = key;
      cells[at] = cell;
      size++;
    }

    void remove(int at) {
      size--;
      System.arraycopy(keys, at + 1, keys, at, size - at);
      System.arraycopy(cells, at + 1, cells, at, size - at);
    }

    /** Cuts the arrays to the number of entries, since nobody changes the leaf any more. */
    void finish() {
      owner = null;
      if (keys.length != size) {
        keys = Arrays.copyOf(keys, size);
        cells = Arrays.copyOf(cells, size);
      }
    }
  }

  /**
   * Children in order. The keys in a child are not less than its low, and less than that of the
   * next; the first one's low does not matter.
   */
  static final class Inner extends TreeNode {
    private @Nullable LeafPacking<?, ?> settled;
    @Nullable Object owner;
    Object[] lows;
    TreeNode[] children;

    /**
     * The number of entries below; 0 until it is counted, which is rarely needed. Any thread may
     * count, with the same result.
     */
    private int entries;

    Inner(
        @Nullable LeafPacking<?, ?> settled,
        @Nullable Object owner,
        Object[] lows,
        TreeNode[] children) {
      this.settled = settled;
      this.owner = owner;
      this.lows = lows;
      this.children = children;
    }

    /** Returns a node whose children are all settled. */
    static Inner settled(LeafPacking<?, ?> packing, Object[] lows, TreeNode[] children) {
      return new Inner(packing, null, lows, children);
    }

    @Override
    @Nullable LeafPacking<?, ?> settled() {
      return settled;
    }

    private int entryCount() {
      int known = entries;
      if (known == 0) {
        for (TreeNode child : children) {
          known += TreeNode.entryCount(child);
        }
        entries = known;
      }
      return known;
    }

    /** Keeps the node settled only if this new child is. */
    void settleWith(TreeNode child) {
      if (settled != null && !settled.isLike(child.settled())) {
        settled = null;
      }
    }

    <K extends Comparable<K>> int childOf(K key) {
      int i = find(lows, 1, lows.length, key);
      return i >= 0 ? i : -i - 2;
    }

    void insert(int at, Object low, TreeNode child) {
      lows = inserted(lows, at, low, new Object[lows.length + 1]);
      children = inserted(children, at, child, new TreeNode[children.length + 1]);
    }

    private static <T> T[] inserted(T[] from, int at, T more, T[] into) {
      System.arraycopy(from, 0, into, 0, at);
      into[at] = more;
      System.arraycopy(from, at, into, at + 1, from.length - at);
      return into;
    }

    /** Removes the children from an index on; returns a node with them. */
    Inner splitOff(int at) {
      int all = children.length;
      Inner right =
          new Inner(
              settled,
              owner,
              Arrays.copyOfRange(lows, at, all),
              Arrays.copyOfRange(children, at, all));
      lows = Arrays.copyOf(lows, at);
      children = Arrays.copyOf(children, at);
      return right;
    }

    void remove(int at) {
      lows = removed(lows, at, new Object[lows.length - 1]);
      children = removed(children, at, new TreeNode[children.length - 1]);
    }

    private static <T> T[] removed(T[] from, int at, T[] into) {
      System.arraycopy(from, 0, into, 0, at);
      System.arraycopy(from, at + 1, into, at, into.length - at);
      return into;
    }
  }

  /** Joins the first n of an array and the first m of another one into a third. */
  static <T> T[] concat(T[] a, int n, T[] b, int m, T[] into) {
    System.arraycopy(a, 0, into, 0, n);
    System.arraycopy(b, 0, into, n, m);
    return into;
  }

  /** Returns how many entries, or children, a node has. */
  static int sizeOf(TreeNode node) {
    return switch (node) {
      case Leaf leaf -> leaf.size;
      case PackedLeaf leaf -> leaf.size;
      case Inner inner -> inner.children.length;
    };
  }

  /** Returns how many entries, or children, such a node may have. */
  static int maxOf(TreeNode node) {
    return node instanceof Inner ? CHILDREN_MAX : LEAF_MAX;
  }

  /** Returns the least key of a node that was split, or of the part that was split off. */
  static Object low(TreeNode node) {
    return switch (node) {
      case Inner inner -> inner.lows[0];
      case Leaf leaf -> leaf.keys[0];
      case PackedLeaf leaf -> leaf.low();
    };
  }
}
