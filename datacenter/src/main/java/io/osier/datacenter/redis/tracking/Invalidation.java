package io.osier.datacenter.redis.tracking;

import io.osier.core.Key;
import io.osier.core.memory.HeapSize;
import io.osier.datacenter.redis.RespValue;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Keys that a client must not have in its cache any more; those who are told the same share it.
 *
 * @param keys null for all
 * @param bytes what it takes where it waits, about
 */
record Invalidation(@Nullable List<Key> keys, long bytes) {
  /** Stands for all that would wait beside it. */
  static final Invalidation OF_ALL = new Invalidation(null, 0);

  /** All are being deleted; each is told as well, since there are caches that miss this one. */
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
