package io.osier.crdt;

import io.osier.core.HeapSize;
import io.vavr.Tuple2;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
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
final class CellMap<K extends Comparable<K>, V> implements Iterable<Tuple2<K, V>> {
  /** A leaf has at most so many entries. */
  static final int LEAF_MAX = 128;

  /** An inner node has at most so many children. */
  static final int CHILDREN_MAX = 64;

  /** A node with fewer is joined with a neighbour, if both fill at most three quarters of one. */
  private static final int FEW = 4;

  private static final long HEAP_BYTES = HeapSize.object(HeapSize.REFERENCE + Integer.BYTES);
  private static final long LEAF_BYTES = HeapSize.object(3 * HeapSize.REFERENCE + Integer.BYTES);

  /** What an entry takes in a tree, about: its references, and its part of the nodes. */
  private static final long TREE_ENTRY_BYTES = 2 * HeapSize.REFERENCE + 2;

  private static final Object[] NOTHING = new Object[0];
  private static final CellMap<?, ?> EMPTY = emptyMap();

  /**
   * A leaf, or an inner node. Nobody changes it but the {@link Edit} that made it, if it is open.
   */
  private abstract static sealed class Node {
    @Nullable Object owner;

    Node(@Nullable Object owner) {
      this.owner = owner;
    }

    /** The smallest key below, or a smaller one. */
    abstract Object low();
  }

  /** Sorted keys and their cells. The arrays of one that is being changed may be longer. */
  private static final class Leaf extends Node {
    Object[] keys;
    Object[] cells;
    int size;

    Leaf(@Nullable Object owner, Object[] keys, Object[] cells, int size) {
      super(owner);
      this.keys = keys;
      this.cells = cells;
      this.size = size;
    }

    @Override
    Object low() {
      return keys[0];
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

    /** Nobody changes it any more: lets the arrays be as long as there are entries. */
    void finish() {
      owner = null;
      if (keys.length != size) {
        keys = Arrays.copyOf(keys, size);
        cells = Arrays.copyOf(cells, size);
      }
    }
  }

  /**
   * Children in order. What is in a child is not below its low, and below that of the next; the
   * first one's low does not matter.
   */
  private static final class Inner extends Node {
    Object[] lows;
    Node[] children;

    Inner(@Nullable Object owner, Object[] lows, Node[] children) {
      super(owner);
      this.lows = lows;
      this.children = children;
    }

    @Override
    Object low() {
      return lows[0];
    }

    /** The child that has a key, if any has. */
    <K extends Comparable<K>> int childOf(K key) {
      int i = find(lows, 1, lows.length, key);
      return i >= 0 ? i : -i - 2;
    }

    void insert(int at, Object low, Node child) {
      lows = inserted(lows, at, low, new Object[lows.length + 1]);
      children = inserted(children, at, child, new Node[children.length + 1]);
    }

    private static <T> T[] inserted(T[] from, int at, T more, T[] into) {
      System.arraycopy(from, 0, into, 0, at);
      into[at] = more;
      System.arraycopy(from, at, into, at + 1, from.length - at);
      return into;
    }

    void remove(int at) {
      lows = removed(lows, at, new Object[lows.length - 1]);
      children = removed(children, at, new Node[children.length - 1]);
    }

    private static <T> T[] removed(T[] from, int at, T[] into) {
      System.arraycopy(from, 0, into, 0, at);
      System.arraycopy(from, at + 1, into, at, into.length - at);
      return into;
    }
  }

  private final Node root;
  private final int size;

  private CellMap(Node root, int size) {
    this.root = root;
    this.size = size;
  }

  private static <K extends Comparable<K>, V> CellMap<K, V> emptyMap() {
    return new CellMap<>(new Leaf(null, NOTHING, NOTHING, 0), 0);
  }

  @SuppressWarnings("unchecked") // holds no entry
  static <K extends Comparable<K>, V> CellMap<K, V> empty() {
    return (CellMap<K, V>) EMPTY;
  }

  int size() {
    return size;
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** What the map takes in the heap without its keys and cells, about, in bytes. */
  long heapBytes() {
    if (root instanceof Inner) {
      return HEAP_BYTES + size * TREE_ENTRY_BYTES;
    }
    return size == 0 ? 0 : HEAP_BYTES + LEAF_BYTES + 2 * HeapSize.array(size, HeapSize.REFERENCE);
  }

  /** The place of a key within a range of places, or -(where it would be) - 1. */
  @SuppressWarnings("unchecked") // only keys are in there
  private static <K extends Comparable<K>> int find(Object[] keys, int from, int to, K key) {
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

  /** The key's cell, or null. */
  @SuppressWarnings("unchecked") // only cells are in there
  @Nullable V get(K key) {
    return (V) find(root, key);
  }

  private static <K extends Comparable<K>> @Nullable Object find(Node root, K key) {
    Node node = root;
    while (node instanceof Inner inner) {
      node = inner.children[inner.childOf(key)];
    }
    Leaf leaf = (Leaf) node;
    int i = find(leaf.keys, 0, leaf.size, key);
    return i < 0 ? null : leaf.cells[i];
  }

  /** For many changes at once. */
  Edit<K, V> edit() {
    return new Edit<>(this);
  }

  /** A map that is being changed: each node is copied once, for all changes. Not thread-safe. */
  static final class Edit<K extends Comparable<K>, V> {
    private CellMap<K, V> map;
    private Node root;
    private int size;

    /** Marks what this may change: what it made since the map was last taken. */
    private Object owner = new Object();

    /** The leaves among that. */
    private List<Leaf> leaves = new ArrayList<>(1);

    /** What was split off to the right of the node that was put into; null if nothing was. */
    private @Nullable Node split;

    /** What the key had before it was put, or removed; null if it was not there. */
    private @Nullable Object former;

    private Edit(CellMap<K, V> map) {
      this.map = map;
      this.root = map.root;
      this.size = map.size;
    }

    @SuppressWarnings("unchecked") // only cells are in there
    @Nullable V get(K key) {
      return (V) find(root, key);
    }

    /** Puts a key's cell; returns the one that was there, or null. */
    @SuppressWarnings("unchecked") // only cells are in there
    @Nullable V put(K key, V cell) {
      Node node = put(root, key, cell, true);
      if (split != null) {
        node = new Inner(owner, new Object[] {node.low(), split.low()}, new Node[] {node, split});
        split = null;
      }
      root = node;
      return (V) former;
    }

    private Node put(Node node, K key, V cell, boolean isLast) {
      return node instanceof Leaf leaf
          ? put(leaf, key, cell, isLast)
          : put((Inner) node, key, cell, isLast);
    }

    private Node put(Leaf leaf, K key, V cell, boolean isLast) {
      int i = find(leaf.keys, 0, leaf.size, key);
      former = i < 0 ? null : leaf.cells[i];
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
      // What comes in its order, as a state that is read does, leaves full leaves behind.
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

    private Node put(Inner inner, K key, V cell, boolean isLast) {
      int i = inner.childOf(key);
      Node child = put(inner.children[i], key, cell, isLast && i == inner.children.length - 1);
      Node right = split;
      split = null;
      if (right == null && child == inner.children[i]) {
        return inner;
      }
      Inner own = own(inner);
      own.children[i] = child;
      if (right != null) {
        own.insert(i + 1, right.low(), right);
        if (own.children.length > CHILDREN_MAX) {
          int left = isLast && i + 2 == own.children.length ? CHILDREN_MAX : CHILDREN_MAX / 2;
          int all = own.children.length;
          split =
              new Inner(
                  owner,
                  Arrays.copyOfRange(own.lows, left, all),
                  Arrays.copyOfRange(own.children, left, all));
          own.lows = Arrays.copyOf(own.lows, left);
          own.children = Arrays.copyOf(own.children, left);
        }
      }
      return own;
    }

    /** Removes a key; returns the cell that was there, or null. */
    @SuppressWarnings("unchecked") // only cells are in there
    @Nullable V remove(K key) {
      root = remove(root, key);
      if (former != null) {
        size--;
        while (root instanceof Inner inner && inner.children.length == 1) {
          root = inner.children[0];
        }
      }
      return (V) former;
    }

    private Node remove(Node node, K key) {
      if (node instanceof Leaf leaf) {
        int i = find(leaf.keys, 0, leaf.size, key);
        former = i < 0 ? null : leaf.cells[i];
        if (former == null) {
          return leaf;
        }
        Leaf own = own(leaf);
        own.remove(i);
        return own;
      }
      Inner inner = (Inner) node;
      int i = inner.childOf(key);
      Node child = remove(inner.children[i], key);
      if (former == null) {
        return inner;
      }
      Inner own = own(inner);
      own.children[i] = child;
      if (sizeOf(child) == 0) {
        own.remove(i);
      } else if (sizeOf(child) < maxOf(child) / FEW) {
        joinWithANeighbour(own, i);
      }
      return own;
    }

    private static int sizeOf(Node node) {
      return node instanceof Leaf leaf ? leaf.size : ((Inner) node).children.length;
    }

    private static int maxOf(Node node) {
      return node instanceof Leaf ? LEAF_MAX : CHILDREN_MAX;
    }

    private void joinWithANeighbour(Inner parent, int i) {
      for (int left : new int[] {i - 1, i}) {
        if (left >= 0 && left + 1 < parent.children.length) {
          Node a = parent.children[left];
          Node b = parent.children[left + 1];
          if (sizeOf(a) + sizeOf(b) <= maxOf(a) * 3 / FEW) {
            parent.children[left] = joined(a, b, parent.lows[left + 1]);
            parent.remove(left + 1);
            return;
          }
        }
      }
    }

    private Node joined(Node left, Node right, Object rightLow) {
      if (left instanceof Leaf a) {
        Leaf b = (Leaf) right;
        return owned(
            concat(a.keys, a.size, b.keys, b.size, new Object[a.size + b.size]),
            concat(a.cells, a.size, b.cells, b.size, new Object[a.size + b.size]),
            a.size + b.size);
      }
      Inner a = (Inner) left;
      Inner b = (Inner) right;
      int n = a.children.length;
      int m = b.children.length;
      Object[] lows = concat(a.lows, n, b.lows, m, new Object[n + m]);
      lows[n] = rightLow; // its first one's low did not matter, and now does
      return new Inner(owner, lows, concat(a.children, n, b.children, m, new Node[n + m]));
    }

    private static <T> T[] concat(T[] a, int n, T[] b, int m, T[] into) {
      System.arraycopy(a, 0, into, 0, n);
      System.arraycopy(b, 0, into, n, m);
      return into;
    }

    private Leaf own(Leaf leaf) {
      if (leaf.owner == owner) {
        return leaf;
      }
      // One more, since mostly that is all that changes.
      int length = Math.min(LEAF_MAX, leaf.size + 1);
      return owned(Arrays.copyOf(leaf.keys, length), Arrays.copyOf(leaf.cells, length), leaf.size);
    }

    private Leaf owned(Object[] keys, Object[] cells, int entries) {
      Leaf made = new Leaf(owner, keys, cells, entries);
      leaves.add(made);
      return made;
    }

    private Inner own(Inner inner) {
      return inner.owner == owner
          ? inner
          : new Inner(owner, inner.lows.clone(), inner.children.clone());
    }

    /** The map with all changes so far. */
    CellMap<K, V> done() {
      if (root != map.root) {
        leaves.forEach(Leaf::finish);
        leaves = new ArrayList<>(1);
        owner = new Object();
        map = size == 0 ? CellMap.empty() : new CellMap<>(root, size);
        root = map.root;
      }
      return map;
    }
  }

  CellMap<K, V> put(K key, V cell) {
    Edit<K, V> edit = edit();
    edit.put(key, cell);
    return edit.done();
  }

  CellMap<K, V> remove(K key) {
    Edit<K, V> edit = edit();
    edit.remove(key);
    return edit.done();
  }

  // ---------------------------------------------------------------- walks

  /** All entries in the order of the keys. */
  @Override
  public Iterator<Tuple2<K, V>> iterator() {
    return new Walk(null, false);
  }

  /** The entries from a key on, that included, in the order of the keys. */
  Iterator<Tuple2<K, V>> from(K key) {
    return new Walk(key, false);
  }

  /**
   * The entries from a key down, that included, the greatest key first.
   *
   * @param key null for all
   */
  Iterator<Tuple2<K, V>> downFrom(@Nullable K key) {
    return new Walk(key, true);
  }

  /** Where a walk is in an inner node. */
  private static final class Step {
    final Inner node;
    int child;

    Step(Inner node, int child) {
      this.node = node;
      this.child = child;
    }
  }

  private final class Walk implements Iterator<Tuple2<K, V>> {
    private final boolean down;
    private final ArrayDeque<Step> above = new ArrayDeque<>(4);
    private Leaf leaf;
    private int next;

    /**
     * A walk that is at its first entry.
     *
     * @param key where it begins; null for the end it comes from
     */
    Walk(@Nullable K key, boolean down) {
      this.down = down;
      Node node = root;
      while (node instanceof Inner inner) {
        int child = key == null ? end(inner.children.length) : inner.childOf(key);
        above.push(new Step(inner, child));
        node = inner.children[child];
      }
      leaf = (Leaf) node;
      int i = key == null ? end(leaf.size) : find(leaf.keys, 0, leaf.size, key);
      next = i >= 0 || key == null ? i : down ? -i - 2 : -i - 1;
      toAnEntry();
    }

    private int end(int size) {
      return down ? size - 1 : 0;
    }

    private boolean isWithin(int i, int size) {
      return 0 <= i && i < size;
    }

    /** Goes to the next leaf if this one has no more: there is none without an entry. */
    private void toAnEntry() {
      while (!isWithin(next, leaf.size) && !above.isEmpty()) {
        Step step = above.peek();
        step.child += down ? -1 : 1;
        if (!isWithin(step.child, step.node.children.length)) {
          above.pop();
          continue;
        }
        Node node = step.node.children[step.child];
        while (node instanceof Inner inner) {
          int child = end(inner.children.length);
          above.push(new Step(inner, child));
          node = inner.children[child];
        }
        leaf = (Leaf) node;
        next = end(leaf.size);
      }
    }

    @Override
    public boolean hasNext() {
      return isWithin(next, leaf.size);
    }

    @Override
    @SuppressWarnings("unchecked") // a key and its cell
    public Tuple2<K, V> next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      Tuple2<K, V> entry = new Tuple2<>((K) leaf.keys[next], (V) leaf.cells[next]);
      next += down ? -1 : 1;
      toAnEntry();
      return entry;
    }
  }

  @Override
  public boolean equals(Object o) {
    if (!(o instanceof CellMap<?, ?> m) || size != m.size) {
      return o == this;
    }
    if (root == m.root) {
      return true;
    }
    Iterator<?> others = m.iterator(); // trees of one content may have different nodes
    for (Tuple2<K, V> entry : this) {
      if (!entry.equals(others.next())) {
        return false;
      }
    }
    return true;
  }

  @Override
  public int hashCode() {
    int hash = 0;
    for (Tuple2<K, V> entry : this) {
      hash = 31 * hash + Objects.hash(entry._1, entry._2);
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
