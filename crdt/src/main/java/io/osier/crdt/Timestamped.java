package io.osier.crdt;

import io.osier.core.memory.HeapSize;

/**
 * Something written at a time.
 *
 * @param timestamp of the hybrid clock
 */
public record Timestamped<V>(long timestamp, V value) {
  /** What one takes in the heap, about, in bytes, without its value. */
  public static final long HEAP_BYTES = HeapSize.object(Long.BYTES + HeapSize.REFERENCE);

  /**
   * The update's timestamp, or the latest that it replaces where that is later: causality beats a
   * slow clock. An update has its transaction's timestamp, so what it replaces may have the same.
   */
  public static <V> long after(DotFun<Timestamped<V>> seen, UpdateContext preparation) {
    return Math.max(preparation.timestamp(), latest(seen));
  }

  /** The latest timestamp; 0 if there is none. */
  public static <V> long latest(DotFun<Timestamped<V>> writes) {
    long latest = 0;
    for (int i = 0; i < writes.size(); i++) {
      latest = Math.max(latest, writes.value(i).timestamp);
    }
    return latest;
  }
}
