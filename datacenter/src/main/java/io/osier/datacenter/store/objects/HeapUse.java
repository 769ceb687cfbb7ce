package io.osier.datacenter.store.objects;

import io.osier.core.memory.HeapSize;
import io.osier.datacenter.store.objects.PackingQueue.Loose;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Counts the keys of an {@link ObjectTable} and what they take in the heap, and tells whether that
 * is too much. Thread-safe.
 */
final class HeapUse {
  /** What a place takes, with its share of the free ones. */
  private static final int SLOT_BYTES = 2 * HeapSize.REFERENCE;

  private final AtomicLong keys = new AtomicLong();
  private final AtomicLong bytes = new AtomicLong();
  private volatile long bytesMax;

  /** The most recently used object larger than half of bytesMax; null if there is none. */
  private volatile @Nullable Loose largest;

  /** An empty table's use, with this bound in bytes, about. */
  HeapUse(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  long keys() {
    return keys.get();
  }

  long bytes() {
    return bytes.get();
  }

  long bytesMax() {
    return bytesMax;
  }

  void setBytesMax(long max) {
    bytesMax = max;
  }

  /** Counts a new key, without its objects. */
  void keyCame() {
    bytes.addAndGet(SLOT_BYTES);
    keys.incrementAndGet();
  }

  /** Counts a key that has left, without its objects. */
  void keyLeft() {
    bytes.addAndGet(-SLOT_BYTES);
    keys.decrementAndGet();
  }

  /** Counts more bytes of a key's objects. */
  void add(long more) {
    bytes.addAndGet(more);
  }

  /** Counts a key's new objects in place of those that took {@code before} bytes. */
  void changed(Loose loose, long before) {
    bytes.addAndGet(loose.bytes - before);
    if (bytesMax > 0 && loose.bytes > bytesMax / 2) {
      largest = loose;
    }
  }

  /** Counts the removal of a key's objects. */
  void removed(Loose loose) {
    largest = loose == largest ? null : largest;
    bytes.addAndGet(-loose.bytes);
  }

  /**
   * Returns whether the keys take too much. One object may be larger than the whole bound. The
   * largest that was used last stays, since each use would read all of it anew, and leaves half of
   * the bound to the others.
   */
  boolean isOver() {
    Loose one = largest;
    long spared = one == null || bytesMax == 0 ? 0 : Math.max(0, one.bytes - bytesMax / 2);
    return bytes.get() - spared > bytesMax;
  }

  /** Returns whether this is {@link #largest}, which is not evicted. */
  boolean isSpared(Loose loose) {
    return loose == largest && bytesMax != 0;
  }
}
