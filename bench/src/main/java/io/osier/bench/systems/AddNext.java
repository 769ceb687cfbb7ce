package io.osier.bench.systems;

import java.util.concurrent.atomic.AtomicIntegerArray;

/** Numbers the elements that are added to sets; a full set is cleared. Thread-safe. */
final class AddNext {
  private final AtomicIntegerArray added;
  private final int elements;

  AddNext(int keys, int elements) {
    this.added = new AtomicIntegerArray(keys);
    this.elements = elements;
  }

  /** Returns the number of a set's next element; the number of elements if the set is full. */
  int of(int key) {
    return Math.floorMod(added.getAndIncrement(key), elements + 1);
  }
}
