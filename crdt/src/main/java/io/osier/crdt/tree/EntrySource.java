package io.osier.crdt.tree;

import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the entries of a decomposed set or map lie outside the heap, as bytes that {@code
 * Decomposition} made, in the order of their keys' bytes (unsigned). What it answers stays the same
 * while others are written. Thread-safe; may wait for a disk.
 */
public interface EntrySource {
  /** For how long who works on one version for long holds it; see {@link #hold}. */
  int HOLD_MILLIS = 120_000;

  /** Nothing. */
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

  /** The cell of a key, or null. */
  byte @Nullable [] get(byte[] key);

  /**
   * Entries from a key on, in their order, or against it.
   *
   * @param from where it begins; null for the end that it comes from
   * @param inclusive whether the entry of that key is among them
   * @param down whether the greatest key comes first
   * @param max at most so many; fewer only at the end
   */
  List<Entry> page(byte @Nullable [] from, boolean inclusive, boolean down, int max);

  /** The replicas by whose places dots are numbered in the cells. */
  List<ReplicaId> replicas();

  /** What it means that an entry cannot be decoded: whose it is should be told. */
  default OsierException failure(MalformedException e) {
    return e;
  }

  /**
   * Keeps what it answers the same for a time, if it has stayed the same until now: who works on
   * one version for long asks again and again.
   *
   * @param millis from now on, in milliseconds; what others hold it for stays
   * @param isPresent whether the object's present version is to be read by it for that time, too;
   *     otherwise only a former one is
   * @return whether it has
   */
  default boolean hold(int millis, boolean isPresent) {
    return true;
  }

  /** Whether it keeps others from tidying up: who uses it should take a later one. */
  default boolean isOld() {
    return false;
  }
}
