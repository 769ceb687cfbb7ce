package io.osier.crdt.types;

import io.osier.core.memory.HeapSize;
import io.osier.crdt.tree.KeyBounds;
import io.osier.crdt.tree.RecentKeys;

/**
 * The part of a decomposed object that lies outside the heap. An entry in memory replaces one
 * outside; one with an empty cell says that the entry was removed.
 *
 * @param size the number of the object's entries in all
 * @param recent the keys of the entries that were changed lately
 */
public record BackingStore<K extends Comparable<K>, V>(
    BackingEntries<K, V> entries, int size, RecentKeys recent) {
  /** Includes the source, which has the object's key twice. */
  private static final long HEAP_BYTES =
      HeapSize.object(2 * HeapSize.REFERENCE + Integer.BYTES) + KeyBounds.HEAP_BYTES_MAX + 1_024;

  long heapBytes() {
    return HEAP_BYTES + recent.heapBytes();
  }
}
