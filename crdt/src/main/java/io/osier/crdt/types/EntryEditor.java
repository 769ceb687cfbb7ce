package io.osier.crdt.types;

import io.osier.crdt.tree.TreeEdit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Puts cells into a {@link EntryStore} and removes them, one by one, and keeps the sums up to date.
 * Not thread-safe.
 */
public final class EntryEditor<S extends EntryStore<S, K, V>, K extends Comparable<K>, V> {
  private final EntryStore<S, K, V> type;
  private final TreeEdit<K, V> map;
  private final @Nullable BackingStore<K, V> behind;
  private final @Nullable BackingEntries<K, V> outside;
  private int size;
  private long sum;
  private long heapSum;
  private int seen;
  private int left;

  EntryEditor(EntryStore<S, K, V> type, EntryContent<K, V> from) {
    this.type = type;
    behind = from.behind();
    map = from.map().edit();
    outside = behind == null ? null : behind.entries();
    size = behind == null ? from.map().size() : behind.size();
    sum = from.bytes();
    heapSum = from.heap();
    seen = from.visible();
    left = from.lasting();
  }

  /** Puts a key's cell; returns the former one, or null. */
  public @Nullable V put(K key, V cell) {
    V loaded = map.put(key, cell);
    V old = former(key, loaded);
    if (loaded != cell) {
      change(key, loaded, cell, old, cell);
    }
    return old;
  }

  /**
   * As {@link #put}, for a caller that has just looked up the key's cell.
   *
   * @param old the former cell, or null
   */
  public void replace(K key, @Nullable V old, V cell) {
    change(key, map.put(key, cell), cell, old, cell);
  }

  /**
   * Puts what is made of a key's cell, which is looked for once.
   *
   * @param made makes it, once, of the one that the key has, or of null
   */
  public void change(K key, Function<@Nullable V, V> made) {
    Change<V> both = new Change<>();
    V loaded =
        map.change(
            key,
            before -> {
              both.old = former(key, before);
              V cell = made.apply(both.old);
              both.cell = cell;
              return cell;
            });
    change(key, loaded, both.cell, both.old, both.cell);
  }

  /** A cell that a key had, and the one that it has. */
  private static final class Change<V> {
    @Nullable V old;
    @Nullable V cell;
  }

  @Nullable V get(K key) {
    return former(key, map.get(key));
  }

  boolean has(K key) {
    return get(key) != null;
  }

  void remove(K key) {
    V old = get(key);
    if (old != null) {
      remove(key, old);
    }
  }

  /**
   * As {@link #remove(Comparable)}, for a caller that has just looked up the key's cell.
   *
   * @param old the former cell
   */
  public void remove(K key, V old) {
    if (outside == null) {
      change(key, map.remove(key), null, old, null);
    } else {
      V gone = type.emptyCell(key);
      change(key, map.put(key, gone), gone, old, null);
    }
  }

  /**
   * Returns the key's former cell, or null.
   *
   * @param loaded the former cell in memory, or null
   */
  private @Nullable V former(K key, @Nullable V loaded) {
    if (outside == null) {
      return loaded;
    }
    return loaded == null ? outside.get(key) : type.isEmptyCell(loaded) ? null : loaded;
  }

  /**
   * Notes another cell of a key in the sums.
   *
   * @param from the former cell in memory
   * @param to the cell in memory now
   * @param old the former cell
   * @param cell the new one
   */
  private void change(K key, @Nullable V from, @Nullable V to, @Nullable V old, @Nullable V cell) {
    if (!map.isInASettledLeaf()) {
      heapSum += to == null ? 0 : type.cellHeapBytes(key, to);
      heapSum -= from == null ? 0 : type.cellHeapBytes(key, from);
    }
    if (old != null) {
      count(key, old, -1);
    }
    if (cell != null) {
      count(key, cell, 1);
    }
  }

  private void count(K key, V cell, int sign) {
    size += sign;
    sum += sign * type.cellBytes(key, cell);
    seen += type.isVisible(cell) ? sign : 0;
    left += type.isLasting(cell) ? sign : 0;
  }

  public S done() {
    return type.with(content());
  }

  EntryContent<K, V> content() {
    return new EntryContent<>(
        map.done(),
        behind == null ? null : new BackingStore<>(behind.entries(), size, behind.recent()),
        sum,
        heapSum + map.loosenedHeapBytes(),
        seen,
        left);
  }
}
