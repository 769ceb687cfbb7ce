package io.osier.crdt.tree;

import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import java.util.List;
import java.util.NavigableMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads the entries of a decomposed set or map that lie outside the heap, as bytes that {@code
 * Decomposition} made, in the order of their keys' bytes (unsigned). Its answers stay the same
 * while others write. Thread-safe; may wait for a disk.
 */
public interface EntrySource {
  /** How long a source is held by code that works on one version for long; see {@link #hold}. */
  int HOLD_MILLIS = 120_000;

  /** A source without entries. */
  EntrySource EMPTY =
      new EntrySource() {
        @Override
        public byte @Nullable [] get(byte[] key) {
          return null;
        }

        @Override
        public List<Entry> page(byte @Nullable [] from, boolean inclusive, boolean down, int max) {
          return List.of();
        }

        @Override
        public List<ReplicaId> replicas() {
          return List.of();
        }
      };

  record Entry(byte[] key, byte[] cell) {}

  /** Returns the cell of a key; null if there is none. */
  byte @Nullable [] get(byte[] key);

  /**
   * Returns entries from a key on, in ascending or descending order.
   *
   * @param from where it begins; null for the end from which it comes
   * @param inclusive whether the entry of that key is included
   * @param down whether the greatest key comes first
   * @param max the most entries; there are fewer only at the end
   */
  List<Entry> page(byte @Nullable [] from, boolean inclusive, boolean down, int max);

  /** As {@link #page}, of a source whose entries lie in a map. */
  static List<Entry> pageOf(
      NavigableMap<byte[], byte[]> entries,
      byte @Nullable [] from,
      boolean inclusive,
      boolean down,
      int max) {
    NavigableMap<byte[], byte[]> all = down ? entries.descendingMap() : entries;
    NavigableMap<byte[], byte[]> rest = from == null ? all : all.tailMap(from, inclusive);
    return rest.entrySet().stream()
        .limit(max)
        .map(e -> new Entry(e.getKey(), e.getValue()))
        .toList();
  }

  /** Returns the replicas by whose indices dots are numbered in the cells. */
  List<ReplicaId> replicas();

  /** Returns the error to throw if an entry cannot be decoded; it should name the object. */
  default OsierException failure(MalformedException e) {
    return e;
  }

  /**
   * Keeps the source's answers from changing for a time, if they have not changed until now: code
   * that works on one version for long calls it again and again.
   *
   * @param millis from now on, in milliseconds; longer holds by others stay
   * @param isPresent whether the object's present version is to be read from it for that time, too;
   *     otherwise only a former one is
   * @return whether the answers have not changed
   */
  default boolean hold(int millis, boolean isPresent) {
    return true;
  }

  /** Whether it keeps the store from cleaning up, so that its users should take a later one. */
  default boolean isOld() {
    return false;
  }
}
