package io.osier.datacenter.copies;

import io.osier.core.Key;
import io.osier.core.net.ByteBudget;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The copies by what they are of: so many at most, within a budget of bytes. Any thread may look
 * into it, all else is done under the lock of {@link Copies}.
 */
final class CopyTable {
  /** What a copy takes of the heap besides its states and its key. */
  private static final long COPY_BYTES = 600;

  private final int max;
  private final ByteBudget bytes;
  private final Map<ObjectName, Copy> copies = new ConcurrentHashMap<>();

  CopyTable(int max, long bytesMax) {
    this.max = max;
    this.bytes = new ByteBudget(bytesMax);
  }

  boolean isEmpty() {
    return copies.isEmpty();
  }

  boolean isFull() {
    return copies.size() >= max;
  }

  int size() {
    return copies.size();
  }

  /** What the copies take of the heap. */
  long bytes() {
    return bytes.taken();
  }

  boolean contains(ObjectName name) {
    return copies.containsKey(name);
  }

  @Nullable Copy find(ObjectName name) {
    return copies.get(name);
  }

  @Nullable Copy find(String keyspace, Key key) {
    return copies.isEmpty() ? null : copies.get(new ObjectName(keyspace, key));
  }

  List<Copy> all() {
    return List.copyOf(copies.values());
  }

  /**
   * Adds a copy that holds nothing yet.
   *
   * @return null if there is no room for it, and then none is made
   */
  @Nullable Copy tryAdd(ObjectName name, Supplier<Copy> made) {
    if (!bytes.tryTake(emptyBytes(name))) {
      return null;
    }
    Copy copy = made.get();
    copies.put(name, copy);
    return copy;
  }

  /** Takes the room for what a copy shall hold; false if there is not enough. */
  boolean makeRoom(Copy copy, Copy.Version version) {
    long more = version.bytes() - versionBytes(copy);
    if (more > 0) {
      return bytes.tryTake(more);
    }
    bytes.give(-more);
    return true;
  }

  /** Removes one; false if it was removed before. */
  boolean remove(Copy copy) {
    boolean removed = copies.remove(copy.name(), copy);
    if (removed) {
      bytes.give(emptyBytes(copy.name()) + versionBytes(copy));
    }
    return removed;
  }

  private static long emptyBytes(ObjectName name) {
    return COPY_BYTES + name.key().heapBytes();
  }

  private static long versionBytes(Copy copy) {
    Copy.Version version = copy.version();
    return version == null ? 0 : version.bytes();
  }
}
