package io.osier.crdt;

import io.osier.core.HeapSize;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Cells of decomposed objects that were read last, since an update asks several times for each that
 * it changes. All objects share a few such tables, by threads, of which each works on one object at
 * a time: were they each object's own, those of all objects that were ever read would have to be
 * counted, and would be of no use to anybody. Together they take at most {@value #STRIPES} times
 * {@value #HEAP_BYTES_MAX} bytes of the heap, whatever there is. Thread-safe.
 */
final class ReadCells {
  private static final int STRIPES = 8;

  /** The field of a map may take several times its encoded size: room for one of 64 KiB. */
  static final long HEAP_BYTES_MAX = 512 << 10;

  private static final int PLACES = 256;
  private static final long CELL_HEAP_BYTES =
      HeapSize.object(3 * HeapSize.REFERENCE + Long.BYTES) + HeapSize.object(0);

  private static final ReadCells[] ALL =
      IntStream.range(0, STRIPES).mapToObj(i -> new ReadCells()).toArray(ReadCells[]::new);

  private final @Nullable Cell[] places = new Cell[PLACES];
  private long heapBytes;

  /**
   * A key that was looked for.
   *
   * @param object stands for the object, and keeps nothing of it
   * @param cell null if there was none
   */
  record Cell(Object object, Object key, @Nullable Object cell, long heapBytes) {}

  ReadCells() {}

  /** The table of this thread, and maybe of some others. */
  static ReadCells ofThread() {
    return ALL[(int) Thread.currentThread().threadId() & STRIPES - 1];
  }

  /**
   * What was found when a key was looked for; null if that is not known any more.
   *
   * @param hash the same one for the same key of an object
   */
  synchronized @Nullable Cell find(Object object, Object key, int hash) {
    Cell known = places[placeOf(hash)];
    return known != null && known.object == object && known.key.equals(key) ? known : null;
  }

  /**
   * Keeps what was found, unless it is too large.
   *
   * @param cellHeapBytes of the key and its cell
   */
  synchronized void keep(
      Object object, Object key, @Nullable Object cell, long cellHeapBytes, int hash) {
    long added = CELL_HEAP_BYTES + cellHeapBytes;
    if (added > HEAP_BYTES_MAX) {
      return;
    }
    int at = placeOf(hash);
    Cell former = places[at];
    heapBytes -= former == null ? 0 : former.heapBytes;
    if (heapBytes + added > HEAP_BYTES_MAX) {
      Arrays.fill(places, null);
      heapBytes = 0;
    }
    places[at] = new Cell(object, key, cell, added);
    heapBytes += added;
  }

  private static int placeOf(int hash) {
    return (hash ^ hash >>> 16) & PLACES - 1;
  }

  synchronized long heapBytes() {
    return heapBytes;
  }
}
