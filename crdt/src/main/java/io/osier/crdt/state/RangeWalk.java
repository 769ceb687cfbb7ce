package io.osier.crdt.state;

import static java.util.Objects.requireNonNull;

import io.osier.crdt.tree.TreeEntry;
import io.osier.crdt.types.EntryStore;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** Walks over the entries behind a key, in their order. Not thread-safe. */
final class RangeWalk<K extends Comparable<K>, V> {
  private final Iterator<TreeEntry<K, V>> entries;
  private @Nullable TreeEntry<K, V> next;

  RangeWalk(EntryStore<?, K, V> cells, @Nullable K after) {
    this.entries = cells.walk(after, false);
    this.next = advance();
    if (next != null && after != null && next.key().equals(after)) {
      next = advance();
    }
  }

  private @Nullable TreeEntry<K, V> advance() {
    return entries.hasNext() ? entries.next() : null;
  }

  boolean hasNext() {
    return next != null;
  }

  TreeEntry<K, V> next() {
    TreeEntry<K, V> entry = requireNonNull(next);
    next = advance();
    return entry;
  }

  /** Returns the next entry, if its key is not behind this one; null otherwise. */
  @Nullable TreeEntry<K, V> upTo(@Nullable K last) {
    return next != null && (last == null || next.key().compareTo(last) <= 0) ? next() : null;
  }
}
