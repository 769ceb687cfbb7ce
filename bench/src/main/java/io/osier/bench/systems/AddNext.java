package io.osier.bench.systems;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Numbers the elements that are added to sets, in turn; after the last element a set is cleared.
 * Thread-safe.
 */
final class AddNext {
  private final AtomicIntegerArray added;
  private final int elements;

  AddNext(int keys, int elements) {
    this.added = new AtomicIntegerArray(keys);
    this.elements = elements;
  }

  /**
   * Returns the number of a set's next element, from 0; the number of elements if the set is to be
   * cleared.
   */
  int of(int key) {
    return Math.floorMod(added.getAndIncrement(key), elements + 1);
  }
}
