package io.osier.crdt.types;

import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.crdt.tree.EntrySource;
import io.osier.crdt.tree.KeyBounds;
import io.osier.crdt.tree.ReadEntries;
import io.osier.crdt.tree.TreeEntry;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * The entries of a decomposed object that lie outside the heap. Entries that were read lately may
 * be found in {@link ReadEntries}. Immutable except for what it learns about its bounds;
 * thread-safe.
 */
public final class BackingEntries<K extends Comparable<K>, V> {
  private static final int PAGE_MIN = 16;
  private static final int PAGE_MAX = 512;

  private final EntryType<K, V> type;
  private final EntrySource source;

  /** Identifies this among the read entries, which must not keep the source. */
  private final Object identity = new Object();

  /**
   * The known bounds of the keys. If two threads learn something at once, one of them may learn it
   * again.
   */
  private volatile KeyBounds bounds;

  /**
   * @param type any store of the type that has no content
   * @param bounds the bounds of the keys
   */
  BackingEntries(EntryType<K, V> type, EntrySource source, KeyBounds bounds) {
    this.type = type;
    this.source = source;
    this.bounds = bounds;
  }

  public EntrySource source() {
    return source;
  }

  /**
   * Returns bounds of the keys of the entries that the object's latest version does not have in
   * memory.
   */
  public KeyBounds bounds() {
    return bounds;
  }

  /** Returns the key's cell, or null. */
  @SuppressWarnings("unchecked") // a key has such cells
  @Nullable V get(K key) {
    byte[] bytes = type.orderedKey(key);
    int hash = hash(bytes);
    ReadEntries read = ReadEntries.shared();
    ReadEntries.Cell known = read.find(identity, key, hash);
    if (known != null) {
      return (V) known.cell();
    }
    byte[] cell = source.get(bytes);
    V found = cell == null ? null : cell(key, cell);
    long heapBytes = found == null ? type.keyHeapBytes(key) : type.cellHeapBytes(key, found);
    read.keep(identity, key, found, heapBytes, hash);
    return found;
  }

  /** Returns a hash of the key's bytes, for which it is no use to choose colliding keys. */
  private int hash(byte[] bytes) {
    return 31 * Arrays.hashCode(bytes) + System.identityHashCode(identity);
  }

  private V cell(K key, byte[] bytes) {
    WireInput in = new WireInput(bytes, source.replicas());
    try {
      return Codec.readAll(in, "an entry's cell", from -> type.readCell(from, key, List.of()));
    } catch (MalformedException e) {
      throw source.failure(e);
    }
  }

  private K key(byte[] bytes) {
    try {
      return Codec.decode("an entry's key", () -> type.readOrderedKey(bytes));
    } catch (MalformedException e) {
      throw source.failure(e);
    }
  }

  /**
   * Returns an iterator over the entries from a key on, that included, in the order of the keys or
   * against it; read page by page.
   *
   * @param from the first key; null for the end at which the iteration starts
   */
  Iterator<TreeEntry<K, V>> walk(@Nullable K from, boolean down) {
    return new Walk(from == null ? null : type.orderedKey(from), down);
  }

  private final class Walk implements Iterator<TreeEntry<K, V>> {
    private final boolean down;
    private List<EntrySource.Entry> page;
    private int max = PAGE_MIN;
    private int next;

    Walk(byte @Nullable [] from, boolean down) {
      this.down = down;
      this.page = firstPage(from);
    }

    private List<EntrySource.Entry> firstPage(byte @Nullable [] from) {
      KeyBounds known = bounds;
      if (known.isNothing()) {
        return List.of();
      }
      List<EntrySource.Entry> first = source.page(known.begin(from, down), true, down, max);
      if (known.isAtEnd(from, down)) {
        bounds =
            first.isEmpty() ? KeyBounds.NOTHING : known.beginningWith(first.getFirst().key(), down);
      }
      return first;
    }

    @Override
    public boolean hasNext() {
      if (next < page.size()) {
        return true;
      }
      if (page.size() < max) {
        return false;
      }
      byte[] last = page.getLast().key();
      max = Math.min(PAGE_MAX, 2 * max);
      page = source.page(last, false, down, max);
      next = 0;
      return !page.isEmpty();
    }

    @Override
    public TreeEntry<K, V> next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      EntrySource.Entry entry = page.get(next++);
      K key = key(entry.key());
      return new TreeEntry<>(key, cell(key, entry.cell()));
    }
  }
}
