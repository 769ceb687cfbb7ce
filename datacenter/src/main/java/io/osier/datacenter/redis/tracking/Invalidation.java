package io.osier.datacenter.redis.tracking;

import io.osier.core.Key;
import io.osier.core.memory.HeapSize;
import io.osier.datacenter.redis.RespValue;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Keys that clients must drop from their caches; the clients that are told the same share it.
 * Immutable.
 *
 * @param keys the keys; null for all keys
 * @param bytes the heap that it takes while it waits, about
 */
record Invalidation(@Nullable List<Key> keys, long bytes) {
  /** Tells a client to drop everything; it replaces all invalidations that wait for the client. */
  static final Invalidation OF_ALL = new Invalidation(null, 0);

  /**
   * Tells a client to drop everything, since all keys are being deleted. Each key is told as well,
   * since some clients' caches ignore this one.
   */
  static final Invalidation FLUSHED =
      new Invalidation(null, HeapSize.object(4 * HeapSize.REFERENCE));

  static Invalidation of(List<Key> keys) {
    long bytes = HeapSize.object(4 * HeapSize.REFERENCE) * 2L;
    for (Key key : keys) {
      bytes += HeapSize.REFERENCE + key.heapBytes();
    }
    return new Invalidation(List.copyOf(keys), bytes);
  }

  RespValue value() {
    return keys == null
        ? RespValue.NULL
        : new RespValue.Array(
            keys.stream().<RespValue>map(key -> new RespValue.Bulk(key.toBytes())).toList());
  }
}
