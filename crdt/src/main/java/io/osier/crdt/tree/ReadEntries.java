package io.osier.crdt.tree;

import io.osier.core.memory.HeapSize;
import org.jspecify.annotations.Nullable;

/**
 * A cache of cells of decomposed objects that were read last, since an update asks several times
 * for each that it changes. All objects share it: with one for each object, those of all objects
 * that were ever read would have to be counted, and would mostly be useless. Each cell has one
 * slot, and a slot's size is bounded, so together they take at most {@link #HEAP_BYTES_MAX}.
 * Thread-safe: the content of a slot is immutable, and it does not matter which of two threads
 * writes it last.
 */
public final class ReadEntries {
  private static final int PLACES = 2_048;
  private static final long CELL_HEAP_BYTES_MAX = 2 << 10;

  private static final int LARGE_PLACES = 8;

  /** A field of a map may take several times its encoded size: this is enough for one of 64 KiB. */
  private static final long LARGE_HEAP_BYTES_MAX = 512 << 10;

  public static final long HEAP_BYTES_MAX =
      PLACES * CELL_HEAP_BYTES_MAX + LARGE_PLACES * LARGE_HEAP_BYTES_MAX;

  private static final long CELL_HEAP_BYTES =
      HeapSize.object(3 * HeapSize.REFERENCE + Long.BYTES) + HeapSize.object(0);

  private static final ReadEntries SHARED = new ReadEntries();

  private final @Nullable Cell[] small = new Cell[PLACES];
  private final @Nullable Cell[] large = new Cell[LARGE_PLACES];

  /**
   * A key that was looked up.
   *
   * @param object identifies the object without keeping it in memory
   * @param cell null if there was none
   */
  public record Cell(Object object, Object key, @Nullable Object cell, long heapBytes) {}

  public ReadEntries() {}

  /** Returns the cache of all objects. */
  public static ReadEntries shared() {
    return SHARED;
  }

  /**
   * Returns the result of an earlier lookup of a key; null if that is not known any more.
   *
   * @param hash always the same for the same key of an object
   */
  public @Nullable Cell find(Object object, Object key, int hash) {
    Cell known = small[placeOf(hash, PLACES)];
    if (known == null || !isOf(known, object, key)) {
      known = large[placeOf(hash, LARGE_PLACES)];
    }
    return known != null && isOf(known, object, key) ? known : null;
  }

  private static boolean isOf(Cell known, Object object, Object key) {
    return known.object == object && known.key.equals(key);
  }

  /**
   * Keeps the result of a lookup, unless it is too large.
   *
   * @param cellHeapBytes of the key and its cell
   */
  public void keep(Object object, Object key, @Nullable Object cell, long cellHeapBytes, int hash) {
    Cell found = new Cell(object, key, cell, CELL_HEAP_BYTES + cellHeapBytes);
    if (found.heapBytes <= CELL_HEAP_BYTES_MAX) {
      small[placeOf(hash, PLACES)] = found;
    } else if (found.heapBytes <= LARGE_HEAP_BYTES_MAX) {
      large[placeOf(hash, LARGE_PLACES)] = found;
    }
  }

  private static int placeOf(int hash, int places) {
    return (hash ^ hash >>> 16) & places - 1;
  }

  /** Returns about how many bytes the cached cells take in the heap. */
  public long heapBytes() {
    long sum = 0;
    for (@Nullable Cell[] places : new @Nullable Cell[][] {small, large}) {
      for (Cell each : places) {
        sum += each == null ? 0 : each.heapBytes;
      }
    }
    return sum;
  }
}
