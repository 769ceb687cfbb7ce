package io.osier.crdt;

import org.jspecify.annotations.Nullable;

/**
 * The content of a {@link CellStore}: its map and what is summed over it.
 *
 * @param map of a decomposed object those entries that changed
 * @param behind its others; null where all are in the map
 * @param bytes the sum of {@link CellStore#cellBytes}
 * @param heap the sum of {@link CellStore#cellHeapBytes} of those that the map itself does not
 *     count
 * @param visible how many cells a reader sees
 * @param lasting of how many cells something is left when they are trimmed
 */
record Cells<K extends Comparable<K>, V>(
    CellMap<K, V> map,
    @Nullable Behind<K, V> behind,
    long bytes,
    long heap,
    int visible,
    int lasting) {
  static <K extends Comparable<K>, V> Cells<K, V> none() {
    return new Cells<>(CellMap.<K, V>empty(), null, 0, 0, 0, 0);
  }
}
