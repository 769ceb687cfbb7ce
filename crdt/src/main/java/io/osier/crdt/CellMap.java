package io.osier.crdt;

import io.vavr.Tuple2;
import io.vavr.collection.HashMap;
import io.vavr.collection.Iterator;
import io.vavr.collection.TreeMap;

/**
 * A persistent map whose keys may be chosen by an enemy. A hash map keeps keys of one hash in a
 * list, and strings of one hash are easily made: a client that adds 16 000 of them to a set would
 * hold up its partition, and every datacenter that reads the set, for seconds each time. Here a
 * hash leads to its one entry, or to an ordered map of all that share it: O(log n) whatever the
 * keys are, without a secret seed.
 *
 * <p>Immutable and safe for any thread.
 */
final class CellMap<K extends Comparable<K>, V> implements Iterable<Tuple2<K, V>> {
  private static final CellMap<?, ?> EMPTY = emptyMap();

  /** Hash → a Tuple2 of key and cell, or a TreeMap of at least two. */
  private final HashMap<Integer, Object> slots;

  private final int size;

  private CellMap(HashMap<Integer, Object> slots, int size) {
    this.slots = slots;
    this.size = size;
  }

  private static <K extends Comparable<K>, V> CellMap<K, V> emptyMap() {
    return new CellMap<>(HashMap.empty(), 0);
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

  /** The key's cell, or null. */
  V get(K key) {
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

  CellMap<K, V> put(K key, V cell) {
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

  /** All entries, in no particular order. */
  @Override
  public Iterator<Tuple2<K, V>> iterator() {
    return slots
        .valuesIterator()
        .flatMap(
            slot ->
                slot instanceof Tuple2
                    ? Iterator.of(CellMap.<K, V>entry(slot))
                    : CellMap.<K, V>shared(slot).iterator());
  }

  @Override
  public boolean equals(Object o) {
    return o == this || (o instanceof CellMap<?, ?> m && size == m.size && slots.equals(m.slots));
  }

  @Override
  public int hashCode() {
    return slots.hashCode();
  }

  @Override
  public String toString() {
    return iterator().mkString("{", ", ", "}");
  }
}
