package io.osier.crdt.types;

import io.osier.core.memory.HeapSize;
import io.osier.crdt.tree.KeyBounds;
import io.osier.crdt.tree.RecentKeys;

/**
 * What lies outside the heap of a decomposed object. An entry in memory takes the place of one that
 * is there, also to say by an empty cell that it was removed.
 *
 * @param size how many entries the object has in all
 * @param recent which entries were changed lately
 */
public record BackingStore<K extends Comparable<K>, V>(
    BackingEntries<K, V> entries, int size, RecentKeys recent) {
  /** With the source, which has the object's key twice. */
  private static final long HEAP_BYTES =
      HeapSize.object(2 * HeapSize.REFERENCE + Integer.BYTES) + KeyBounds.HEAP_BYTES_MAX + 1_024;

  long heapBytes() {
    return HEAP_BYTES + recent.heapBytes();
  }
}
