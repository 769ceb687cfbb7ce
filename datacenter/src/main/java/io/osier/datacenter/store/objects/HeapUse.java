package io.osier.datacenter.store.objects;

import io.osier.core.memory.HeapSize;
import io.osier.datacenter.store.objects.PackingQueue.Loose;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * How many keys an {@link ObjectTable} has, what they take in the heap, and whether that is too
 * much. Thread-safe.
 */
final class HeapUse {
  /** What a place takes, with its share of those that are free. */
  private static final int SLOT_BYTES = 2 * HeapSize.REFERENCE;

  private final AtomicLong keys = new AtomicLong();
  private final AtomicLong bytes = new AtomicLong();
  private volatile long bytesMax;

  /** The most recently used object larger than half of bytesMax; null if there is none. */
  private volatile @Nullable Loose largest;

  /** That of an empty table, in which so many bytes are kept, about. */
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

  /** A key has come, without what it holds. */
  void keyCame() {
    bytes.addAndGet(SLOT_BYTES);
    keys.incrementAndGet();
  }

  /** A key has left, without what it held. */
  void keyLeft() {
    bytes.addAndGet(-SLOT_BYTES);
    keys.decrementAndGet();
  }

  /** What a key holds takes so much more. */
  void add(long more) {
    bytes.addAndGet(more);
  }

  /** A key holds other objects, which took {@code before}. */
  void changed(Loose loose, long before) {
    bytes.addAndGet(loose.bytes - before);
    if (bytesMax > 0 && loose.bytes > bytesMax / 2) {
      largest = loose;
    }
  }

  /** A key holds its objects no more. */
  void removed(Loose loose) {
    largest = loose == largest ? null : largest;
    bytes.addAndGet(-loose.bytes);
  }

  /**
   * Whether there is too much. An object may be larger than all that is to be kept: the one that
   * was used last stays, since each use would read all of it anew, and leaves half to the others.
   */
  boolean isOver() {
    Loose one = largest;
    long spared = one == null || bytesMax == 0 ? 0 : Math.max(0, one.bytes - bytesMax / 2);
    return bytes.get() - spared > bytesMax;
  }

  /** Whether this is {@link #largest}, which is not evicted. */
  boolean isSpared(Loose loose) {
    return loose == largest && bytesMax != 0;
  }
}
