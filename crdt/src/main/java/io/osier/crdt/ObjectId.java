package io.osier.crdt;

import io.osier.core.Key;
import io.osier.core.memory.HeapSize;

/**
 * The identity of an object of a partition: a key and a type. If two datacenters create one key
 * with two types at the same time, there are two objects, so neither update is lost.
 */
public record ObjectId(Key key, CrdtType type) implements Comparable<ObjectId> {
  /** Returns about how many bytes this takes in the heap, its key included. */
  public long heapBytes() {
    return HeapSize.object(2 * HeapSize.REFERENCE) + key.heapBytes();
  }

  @Override
  public int compareTo(ObjectId other) {
    int byKey = key.compareTo(other.key);
    return byKey != 0 ? byKey : type.compareTo(other.type);
  }

  // Written by hand, since it is the key of maps that every update uses: a record's own methods are
  // slower.
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
