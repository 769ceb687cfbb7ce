package io.osier.crdt;

import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.vavr.Tuple2;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * The entries of a decomposed object that lie outside the heap. What was read last is kept, since
 * an update asks several times for the cell that it changes. Immutable but for that; thread-safe.
 */
final class Outside<K extends Comparable<K>, V> {
  /** So many cells that were read last are kept at most. */
  private static final int KEPT = 128;

  /** Of those that are larger only the last one is kept: nobody counts what is. */
  private static final int SMALL_BYTES_MAX = 1 << 9;

  /** And none that is larger than this. */
  private static final int KEPT_BYTES_MAX = 64 << 10;

  private static final int PAGE_MIN = 16;
  private static final int PAGE_MAX = 512;

  private final CellStore<?, K, V> type;
  private final EntrySource source;

  /** Null before something was looked for. */
  private @Nullable Kept<K, V> @Nullable [] kept;

  private @Nullable Kept<K, V> large;

  /**
   * A key that was looked for.
   *
   * @param cell null if there was none
   */
  private record Kept<K, V>(K key, @Nullable V cell) {}

  /**
   * Entries of an object.
   *
   * @param type any store of the type that has no content
   */
  Outside(CellStore<?, K, V> type, EntrySource source) {
    this.type = type;
    this.source = source;
  }

  EntrySource source() {
    return source;
  }

  /** The key's cell, or null. */
  @Nullable V get(K key) {
    byte[] bytes = type.orderedKey(key);
    int at = placeOf(bytes);
    @Nullable Kept<K, V>[] places = places();
    Kept<K, V> known = places[at];
    if (known != null && known.key.equals(key)) {
      return known.cell;
    }
    known = large;
    if (known != null && known.key.equals(key)) {
      return known.cell;
    }
    byte[] cell = source.get(bytes);
    V read = cell == null ? null : cell(key, cell);
    int length = bytes.length + (cell == null ? 0 : cell.length);
    if (length <= SMALL_BYTES_MAX) {
      places[at] = new Kept<>(key, read);
    } else if (length <= KEPT_BYTES_MAX) {
      large = new Kept<>(key, read);
    }
    return read;
  }

  @SuppressWarnings({"unchecked", "rawtypes"}) // no arrays of a generic class
  private @Nullable Kept<K, V>[] places() {
    @Nullable Kept<K, V>[] places = kept;
    if (places == null) {
      places = new Kept[KEPT];
      kept = places;
    }
    return places;
  }

  /** Of bytes, since whoever chooses them gains nothing by making them meet. */
  private static int placeOf(byte[] bytes) {
    int hash = 0;
    for (byte b : bytes) {
      hash = 31 * hash + b;
    }
    return (hash ^ hash >>> 16) & KEPT - 1;
  }

  private V cell(K key, byte[] bytes) {
    try {
      return decoded(key, bytes);
    } catch (MalformedException e) {
      throw source.failure(e);
    }
  }

  private K key(byte[] bytes) {
    try {
      return type.readOrderedKey(bytes);
    } catch (MalformedException e) {
      throw source.failure(e);
    }
  }

  private V decoded(K key, byte[] bytes) {
    WireInput in = new WireInput(bytes, source.replicas());
    V cell = type.readCell(in, key, List.of());
    in.expectEnd();
    return cell;
  }

  /**
   * The entries from a key on, that included, in the order of the keys or against it; read page by
   * page.
   *
   * @param from where it begins; null for the end that it comes from
   */
  Iterator<Tuple2<K, V>> walk(@Nullable K from, boolean down) {
    return new Walk(from == null ? null : type.orderedKey(from), down);
  }

  private final class Walk implements Iterator<Tuple2<K, V>> {
    private final boolean down;
    private List<EntrySource.Entry> page;
    private int max = PAGE_MIN;
    private int next;

    Walk(byte @Nullable [] from, boolean down) {
      this.down = down;
      this.page = source.page(from, true, down, max);
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
    public Tuple2<K, V> next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      EntrySource.Entry entry = page.get(next++);
      K key = key(entry.key());
      return new Tuple2<>(key, cell(key, entry.cell()));
    }
  }
}
