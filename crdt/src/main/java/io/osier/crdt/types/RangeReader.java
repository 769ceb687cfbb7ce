package io.osier.crdt.types;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.crdt.Query;
import io.osier.crdt.tree.TreeEntry;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Reads the cells of a store within a range of parts, and no others. Not thread-safe. */
final class RangeReader<K extends Comparable<K>, V> {
  private final EntryStore<?, K, V> store;
  private final boolean down;
  private final int limit;

  /** The ends at which the walk begins and ends. */
  private final Optional<End<K>> first;

  private final Optional<End<K>> last;

  RangeReader(EntryStore<?, K, V> store, Query.Range range) {
    this.store = store;
    this.down = range.descending();
    this.limit = range.limit();
    this.first = (down ? range.to() : range.from()).map(this::end);
    this.last = (down ? range.from() : range.to()).map(this::end);
  }

  private End<K> end(Query.Bound bound) {
    List<K> keys = store.keys(bound.part());
    return new End<>(keys.getFirst(), keys.getLast(), bound.inclusive());
  }

  /** An end of a range: the keys of its part, from the least to the greatest. */
  private record End<K extends Comparable<K>>(K least, K greatest, boolean inclusive) {
    boolean excludes(K key) {
      return !inclusive && least.compareTo(key) <= 0 && key.compareTo(greatest) <= 0;
    }

    /** Whether a walk in the given direction that is at a key has passed this end. */
    boolean isPassed(K key, boolean down) {
      boolean isBehind = down ? key.compareTo(least) < 0 : key.compareTo(greatest) > 0;
      return isBehind || excludes(key);
    }
  }

  /** Returns what a function makes of the cells that a reader sees, in their order. */
  <T> List<T> visible(Function<TreeEntry<K, V>, T> shown) {
    List<T> some = new ArrayList<>();
    K before = null;
    K from = first.map(down ? End::greatest : End::least).orElse(null);
    Iterator<TreeEntry<K, V>> walk = store.walk(from, down);
    long bytes = 0;
    int unseen = store.visible(); // once all were seen, the remembered removals behind need no look
    while (unseen > 0 && walk.hasNext()) {
      TreeEntry<K, V> entry = walk.next();
      boolean isFull =
          some.size() >= limit && before != null && !store.areOfOnePart(before, entry.key());
      if (isFull || (last.isPresent() && last.get().isPassed(entry.key(), down))) {
        break;
      }
      if (store.isVisible(entry.cell())) {
        unseen--;
        if (first.isEmpty() || !first.get().excludes(entry.key())) {
          bytes += store.cellBytes(entry.key(), entry.cell());
          checkFits(bytes, some.size());
          some.add(shown.apply(entry));
          before = entry.key();
        }
      }
    }
    return down ? some.reversed() : some;
  }

  /** Checks that the entries fit into an answer, before they take more of the heap. */
  private void checkFits(long bytes, int before) {
    if (bytes > EntryStore.WHOLE_BYTES_MAX) {
      throw OsierException.of(
          ErrorCode.VALUE_TOO_LARGE,
          ("the first %s entries of the range take all of the %s bytes that an answer has room for:"
                  + " ask for fewer at once")
              .formatted(before, EntryStore.WHOLE_BYTES_MAX));
    }
  }
}
