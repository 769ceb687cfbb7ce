package io.osier.crdt.tree;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Walks over the entries of a decomposed object: those in memory hide those outside with the same
 * keys. Not thread-safe.
 */
public final class LayeredWalk<K extends Comparable<K>, V> implements Iterator<TreeEntry<K, V>> {
  private final Iterator<TreeEntry<K, V>> inMemory;
  private final Iterator<TreeEntry<K, V>> outside;
  private final boolean down;
  private final Predicate<V> isGone;
  private @Nullable TreeEntry<K, V> front;
  private @Nullable TreeEntry<K, V> behind;
  private @Nullable TreeEntry<K, V> next;

  /**
   * @param down whether both walk in descending order
   * @param isGone whether a cell in memory means that the entry was removed
   */
  public LayeredWalk(
      Iterator<TreeEntry<K, V>> inMemory,
      Iterator<TreeEntry<K, V>> outside,
      boolean down,
      Predicate<V> isGone) {
    this.inMemory = inMemory;
    this.outside = outside;
    this.down = down;
    this.isGone = isGone;
    this.front = nextOf(inMemory);
    this.behind = nextOf(outside);
    this.next = find();
  }

  private static <T> @Nullable T nextOf(Iterator<T> iterator) {
    return iterator.hasNext() ? iterator.next() : null;
  }

  private @Nullable TreeEntry<K, V> find() {
    while (front != null || behind != null) {
      TreeEntry<K, V> found = front;
      int order = front == null ? 1 : behind == null ? -1 : front.key().compareTo(behind.key());
      if (front != null && behind != null && down) {
        order = -order;
      }
      if (order > 0) {
        found = behind;
      } else {
        front = nextOf(inMemory);
      }
      if (order >= 0) {
        behind = nextOf(outside);
      }
      if (found != null && (order > 0 || !isGone.test(found.cell()))) {
        return found;
      }
    }
    return null;
  }

  @Override
  public boolean hasNext() {
    return next != null;
  }

  @Override
  public TreeEntry<K, V> next() {
    TreeEntry<K, V> found = next;
    if (found == null) {
      throw new NoSuchElementException();
    }
    next = find();
    return found;
  }
}
