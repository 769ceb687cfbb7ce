package io.osier.crdt;

import io.osier.core.memory.HeapSize;

/**
 * A value with the time at which it was written.
 *
 * @param timestamp of the hybrid clock
 */
public record Timestamped<V>(long timestamp, V value) {
  /** About how many bytes one takes in the heap, without its value. */
  public static final long HEAP_BYTES = HeapSize.object(Long.BYTES + HeapSize.REFERENCE);

  /**
   * Returns the update's timestamp, or the latest of those that it replaces if that is later:
   * causality beats a slow clock. All updates of a transaction have its timestamp, so a replaced
   * one may have the same.
   */
  public static <V> long after(DotFun<Timestamped<V>> seen, UpdateContext preparation) {
    return Math.max(preparation.timestamp(), latest(seen));
  }

  /** Returns the latest timestamp; 0 if there is none. */
  public static <V> long latest(DotFun<Timestamped<V>> writes) {
    long latest = 0;
    for (int i = 0; i < writes.size(); i++) {
      latest = Math.max(latest, writes.value(i).timestamp);
    }
    return latest;
  }
}
