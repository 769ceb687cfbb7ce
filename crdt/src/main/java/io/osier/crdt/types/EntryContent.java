package io.osier.crdt.types;

import io.osier.crdt.tree.EntryTree;
import org.jspecify.annotations.Nullable;

/**
 * The content of a {@link EntryStore}: its map and what is summed over it.
 *
 * @param map of a decomposed object those entries that changed
 * @param behind its others; null where all are in the map
 * @param bytes the sum of {@link EntryStore#cellBytes}
 * @param heap the sum of {@link EntryStore#cellHeapBytes} of those that the map itself does not
 *     count
 * @param visible how many cells a reader sees
 * @param lasting of how many cells something is left when they are trimmed
 */
record EntryContent<K extends Comparable<K>, V>(
    EntryTree<K, V> map,
    @Nullable BackingStore<K, V> behind,
    long bytes,
    long heap,
    int visible,
    int lasting) {
  static <K extends Comparable<K>, V> EntryContent<K, V> none() {
    return new EntryContent<>(EntryTree.<K, V>empty(), null, 0, 0, 0, 0);
  }
}
