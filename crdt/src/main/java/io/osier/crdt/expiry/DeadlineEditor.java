package io.osier.crdt.expiry;

import io.osier.crdt.tree.EntryTree;
import io.osier.crdt.tree.TreeEdit;
import io.osier.crdt.types.EntryStore;
import org.jspecify.annotations.Nullable;

/**
 * Adds and removes parts of {@link PartDeadlines}, one by one, and keeps the sums. Not thread-safe.
 */
final class DeadlineEditor<K extends Comparable<K>> {
  private final EntryStore<?, K, ?> keys;
  private final TreeEdit<K, DeadlineRegister> cells;
  private final DeadlineOrder.Editor<K> order;
  private long bytes;
  private long loose;

  DeadlineEditor(PartDeadlines<K> from, EntryStore<?, K, ?> keys) {
    this(from, from.order, keys);
  }

  DeadlineEditor(PartDeadlines<K> from, DeadlineOrder<K> order, EntryStore<?, K, ?> keys) {
    this.keys = keys;
    this.cells = from.cells.edit();
    this.order = order.edit();
    this.bytes = from.bytes;
    this.loose = from.loose;
  }

  DeadlineRegister get(K key) {
    DeadlineRegister known = cells.get(key);
    return known == null ? DeadlineRegister.NONE : known;
  }

  boolean has(K key) {
    return cells.get(key) != null;
  }

  void put(K key, DeadlineRegister deadlines) {
    DeadlineRegister former = cells.put(key, deadlines);
    count(key, former, -1);
    count(key, deadlines, 1);
  }

  void remove(K key) {
    count(key, cells.remove(key), -1);
  }

  private void count(K key, @Nullable DeadlineRegister deadlines, int sign) {
    if (deadlines != null) {
      bytes += sign * (keys.keyBytes(key) + deadlines.sizeBytes());
      if (!cells.isInASettledLeaf()) {
        loose += sign * (keys.keyHeapBytes(key) + deadlines.heapBytes());
      }
    }
  }

  void order(K key, long from, long to) {
    if (from != to && from != DeadlineRegister.NEVER) {
      order.remove(from, key);
    }
    if (from != to && to != DeadlineRegister.NEVER) {
      order.put(to, key);
    }
  }

  PartDeadlines<K> done() {
    return done(order.done());
  }

  PartDeadlines<K> done(DeadlineOrder<K> dues) {
    EntryTree<K, DeadlineRegister> all = cells.done();
    return all.isEmpty()
        ? PartDeadlines.none()
        : new PartDeadlines<>(all, dues, bytes, loose + cells.loosenedHeapBytes());
  }
}
