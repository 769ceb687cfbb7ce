package io.osier.crdt;

import io.osier.core.HeapSize;
import io.vavr.Tuple2;
import io.vavr.collection.HashMap;
import io.vavr.collection.TreeMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * A persistent map whose keys may be chosen by an enemy. A hash map keeps keys of one hash in a
 * list, and strings of one hash are easily made: a client that adds 16 000 of them to a set would
 * hold up its partition, and every datacenter that reads the set, for seconds each time. Here a
 * hash leads to its one entry, or to an ordered map of all that share it: O(log n) whatever the
 * keys are, without a secret seed.
 *
 * <p>Most maps are small: up to {@link #SMALL_MAX} entries are kept in two arrays, sorted by key.
 * They take a fraction of the trie's memory and of its time, above all where many entries are
 * looked up, put and written at once ({@link Edit}).
 *
 * <p>Immutable and safe for any thread.
 */
final class CellMap<K extends Comparable<K>, V> implements Iterable<Tuple2<K, V>> {
  /** More entries than this are kept in a trie. */
  static final int SMALL_MAX = 128;

  /** A trie that shrinks to this becomes arrays: far enough below, so that few changes do not. */
  private static final int SHRUNK = SMALL_MAX / 2;

  private static final long HEAP_BYTES = HeapSize.object(3 * HeapSize.REFERENCE + Integer.BYTES);

  /** What an entry takes in a trie, about: its leaf, hash and pair, and its part of the nodes. */
  private static final long TRIE_ENTRY_BYTES = 84;

  private static final Object[] NOTHING = new Object[0];
  private static final CellMap<?, ?> EMPTY = emptyMap();

  /** Sorted keys; none in a trie. */
  private final Object[] keys;

  /** The cells of the keys; none in a trie. */
  private final Object[] cells;

  /** Hash → a Tuple2 of key and cell, or a TreeMap of at least two; null in a small map. */
  private final @Nullable HashMap<Integer, Object> slots;

  private final int size;

  private CellMap(HashMap<Integer, Object> slots, int size) {
    this.keys = NOTHING;
    this.cells = NOTHING;
    this.slots = slots;
    this.size = size;
  }

  private CellMap(Object[] keys, Object[] cells) {
    this.keys = keys;
    this.cells = cells;
    this.slots = null;
    this.size = keys.length;
  }

  private static <K extends Comparable<K>, V> CellMap<K, V> emptyMap() {
    return new CellMap<>(NOTHING, NOTHING);
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
    if (slots != null) {
      return HEAP_BYTES + size * TRIE_ENTRY_BYTES;
    }
    return size == 0 ? 0 : HEAP_BYTES + 2 * HeapSize.array(size, HeapSize.REFERENCE);
  }

  /** Whether {@link #iterator} goes in the order of the keys. */
  boolean isSorted() {
    return slots == null;
  }

  /** The place of a key, or -(where it would be) - 1. */
  @SuppressWarnings("unchecked") // only keys are in there
  private static <K extends Comparable<K>> int find(Object[] keys, int size, K key) {
    int low = 0;
    int high = size - 1;
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
    if (slots == null) {
      int i = find(keys, size, key);
      return i < 0 ? null : (V) cells[i];
    }
    Object slot = slots.getOrElse(key.hashCode(), null);
    if (slot == null) {
      return null;
    }
    if (slot instanceof Tuple2) {
      Tuple2<K, V> entry = entry(slot);
      return entry._1.equals(key) ? entry._2 : null;
    }
    return CellMap.<K, V>shared(slot).getOrElse(key, null);
  }

  /** For many changes at once. */
  Edit<K, V> edit() {
    return new Edit<>(this);
  }

  /**
   * A map that is being changed: a small one's arrays are copied once, for all changes. Not
   * thread-safe.
   */
  static final class Edit<K extends Comparable<K>, V> {
    /** What there is, unless the arrays have it. */
    private CellMap<K, V> map;

    /** Sorted keys, of which {@link #size} count; none until something changes. */
    private Object[] keys = NOTHING;

    private Object[] cells = NOTHING;
    private int size;
    private boolean isOpen;

    private Edit(CellMap<K, V> map) {
      this.map = map;
    }

    @SuppressWarnings("unchecked") // only cells are in there
    @Nullable V get(K key) {
      if (!isOpen) {
        return map.get(key);
      }
      int i = find(keys, size, key);
      return i < 0 ? null : (V) cells[i];
    }

    void put(K key, V cell) {
      if (!isOpen && map.slots != null) {
        map = map.put(key, cell);
        return;
      }
      open();
      int i = find(keys, size, key);
      if (i >= 0) {
        cells[i] = cell;
        return;
      }
      if (size == SMALL_MAX) {
        map = trie().put(key, cell);
        isOpen = false;
        return;
      }
      int at = -i - 1;
      if (size == keys.length) {
        grow();
      }
      System.arraycopy(keys, at, keys, at + 1, size - at);
      System.arraycopy(cells, at, cells, at + 1, size - at);
      keys[at] = key;
      cells[at] = cell;
      size++;
    }

    void remove(K key) {
      if (!isOpen && map.slots != null) {
        map = map.remove(key);
        return;
      }
      open();
      int i = find(keys, size, key);
      if (i >= 0) {
        size--;
        System.arraycopy(keys, i + 1, keys, i, size - i);
        System.arraycopy(cells, i + 1, cells, i, size - i);
      }
    }

    private void open() {
      if (!isOpen) {
        isOpen = true;
        size = map.size;
        keys = map.keys.clone();
        cells = map.cells.clone();
      }
    }

    private void grow() {
      int length = Math.min(SMALL_MAX, Math.max(4, 2 * size));
      keys = Arrays.copyOf(keys, length);
      cells = Arrays.copyOf(cells, length);
    }

    @SuppressWarnings("unchecked") // a key and its cell
    private CellMap<K, V> trie() {
      CellMap<K, V> trie = new CellMap<>(HashMap.empty(), 0);
      for (int i = 0; i < size; i++) {
        trie = trie.put((K) keys[i], (V) cells[i]);
      }
      return trie;
    }

    /** The map with all changes so far. */
    CellMap<K, V> done() {
      if (isOpen) {
        map =
            size == 0
                ? CellMap.empty()
                : new CellMap<>(Arrays.copyOf(keys, size), Arrays.copyOf(cells, size));
        isOpen = false;
      }
      return map;
    }
  }

  CellMap<K, V> put(K key, V cell) {
    if (slots == null) {
      Edit<K, V> edit = edit();
      edit.put(key, cell);
      return edit.done();
    }
    int hash = key.hashCode();
    Object slot = slots.getOrElse(hash, null);
    if (slot == null) {
      return new CellMap<>(slots.put(hash, new Tuple2<>(key, cell)), size + 1);
    }
    if (slot instanceof Tuple2) {
      Tuple2<K, V> entry = entry(slot);
      if (entry._1.equals(key)) {
        return new CellMap<>(slots.put(hash, new Tuple2<>(entry._1, cell)), size);
      }
      TreeMap<K, V> both = TreeMap.of(entry._1, entry._2, key, cell);
      return new CellMap<>(slots.put(hash, both), size + 1);
    }
    TreeMap<K, V> shared = shared(slot);
    TreeMap<K, V> next = shared.put(key, cell);
    return new CellMap<>(slots.put(hash, next), size + next.size() - shared.size());
  }

  CellMap<K, V> remove(K key) {
    if (slots == null) {
      if (get(key) == null) {
        return this;
      }
      Edit<K, V> edit = edit();
      edit.remove(key);
      return edit.done();
    }
    CellMap<K, V> less = removeFromTrie(slots, key);
    return less.size <= SHRUNK ? less.small() : less;
  }

  private CellMap<K, V> small() {
    List<Tuple2<K, V>> entries = sorted();
    return new CellMap<>(
        entries.stream().map(e -> e._1).toArray(), entries.stream().map(e -> e._2).toArray());
  }

  private List<Tuple2<K, V>> sorted() {
    List<Tuple2<K, V>> entries = new ArrayList<>(size);
    forEach(entries::add);
    entries.sort(Comparator.comparing(e -> e._1));
    return entries;
  }

  /**
   * All entries in the order of the keys. A trie's are sorted each time: the order is not kept,
   * since a version would then take memory that it does not share with the next one.
   */
  Iterable<Tuple2<K, V>> inOrder() {
    return isSorted() ? this : sorted();
  }

  private CellMap<K, V> removeFromTrie(HashMap<Integer, Object> slots, K key) {
    int hash = key.hashCode();
    Object slot = slots.getOrElse(hash, null);
    if (slot == null) {
      return this;
    }
    if (slot instanceof Tuple2) {
      return CellMap.<K, V>entry(slot)._1.equals(key)
          ? new CellMap<>(slots.remove(hash), size - 1)
          : this;
    }
    TreeMap<K, V> shared = shared(slot);
    TreeMap<K, V> next = shared.remove(key);
    if (next.size() == shared.size()) {
      return this;
    }
    // One that is left alone is an entry again, so that equal maps have equal slots.
    return new CellMap<>(slots.put(hash, next.size() == 1 ? next.head() : next), size - 1);
  }

  @SuppressWarnings("unchecked") // a slot that is a Tuple2 is an entry
  private static <K, V> Tuple2<K, V> entry(Object slot) {
    return (Tuple2<K, V>) slot;
  }

  @SuppressWarnings("unchecked") // a slot that is not a Tuple2 is a map
  private static <K, V> TreeMap<K, V> shared(Object slot) {
    return (TreeMap<K, V>) slot;
  }

  /** All entries; in the order of the keys if {@link #isSorted}, otherwise in no particular one. */
  @Override
  public Iterator<Tuple2<K, V>> iterator() {
    return slots == null
        ? new ArrayIterator()
        : slots
            .valuesIterator()
            .flatMap(
                slot ->
                    slot instanceof Tuple2
                        ? io.vavr.collection.Iterator.of(CellMap.<K, V>entry(slot))
                        : CellMap.<K, V>shared(slot).iterator());
  }

  private final class ArrayIterator implements Iterator<Tuple2<K, V>> {
    private int next;

    @Override
    public boolean hasNext() {
      return next < size;
    }

    @Override
    @SuppressWarnings("unchecked") // a key and its cell
    public Tuple2<K, V> next() {
      if (next == size) {
        throw new NoSuchElementException();
      }
      return new Tuple2<>((K) keys[next], (V) cells[next++]);
    }
  }

  @Override
  public boolean equals(Object o) {
    if (!(o instanceof CellMap<?, ?> m) || size != m.size) {
      return o == this;
    }
    if (slots == null && m.slots == null) {
      return Arrays.equals(keys, m.keys) && Arrays.equals(cells, m.cells);
    }
    if (slots != null && m.slots != null) {
      return slots.equals(m.slots);
    }
    return asMap().equals(m.asMap());
  }

  /** For the rare comparison of a small map with a trie of the same size. */
  private Map<K, V> asMap() {
    Map<K, V> map = new java.util.TreeMap<>();
    forEach(e -> map.put(e._1, e._2));
    return map;
  }

  @Override
  public int hashCode() {
    int hash = 0;
    for (Tuple2<K, V> entry : this) { // in whatever order
      hash += 31 * entry._1.hashCode() + entry._2.hashCode();
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
