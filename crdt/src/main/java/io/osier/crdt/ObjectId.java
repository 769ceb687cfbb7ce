package io.osier.crdt;

import io.osier.core.Key;
import io.osier.core.memory.HeapSize;

/**
 * An object of a partition: a key and a type. Two datacenters that make one key with two types at
 * the same time make two objects, so that neither update is lost.
 */
public record ObjectId(Key key, CrdtType type) implements Comparable<ObjectId> {
  /** What this takes in the heap, about, in bytes, its key included. */
  public long heapBytes() {
    return HeapSize.object(2 * HeapSize.REFERENCE) + key.heapBytes();
  }

  @Override
  public int compareTo(ObjectId other) {
    int byKey = key.compareTo(other.key);
    return byKey != 0 ? byKey : type.compareTo(other.type);
  }

  // By hand, as the key of the maps that every update looks into: a record's own is slower.
  @Override
  public boolean equals(Object o) {
    return o == this || (o instanceof ObjectId id && type == id.type && key.equals(id.key));
  }

  @Override
  public int hashCode() {
    return key.hashCode() * 31 + type.number();
  }

  @Override
  public String toString() {
    return key + ":" + type;
  }
}
