package io.osier.bench.systems;

import java.util.concurrent.atomic.AtomicIntegerArray;

/** Which element of a set is added next; after the last one the set is to be cleared. */
final class AddNext {
  private final AtomicIntegerArray added;
  private final int elements;

  AddNext(int keys, int elements) {
    this.added = new AtomicIntegerArray(keys);
    this.elements = elements;
  }

  /** The element's number, or how many there are: then the set is cleared. */
  int of(int key) {
    return Math.floorMod(added.getAndIncrement(key), elements + 1);
  }
}
