package io.osier.datacenter.partition.history;

import io.osier.core.VersionVector;
import io.osier.core.memory.Budget;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import java.util.List;

/**
 * Keeps former states of a partition's objects: {@link SnapshotHistory} does so in a {@code causal}
 * keyspace; a {@code session} keyspace keeps nothing. It is told of every update that becomes
 * visible.
 */
public interface VersionHistory {
  /** Keeps nothing. */
  VersionHistory NONE = new VersionHistory() {};

  /**
   * A commit of this datacenter is about to change an object. It may do so several times.
   *
   * @param before the object before the commit: the very state from which the new one was made, so
   *     that they share parts
   * @param first the first of the commit's numbers
   */
  default void committing(
      ObjectId object,
      CrdtState before,
      CrdtState delta,
      CrdtState after,
      long first,
      long nowNanos) {}

  default void committed(long number) {}

  /** An admission of others' updates is about to change an object; see {@link #committing}. */
  default void admitting(
      ObjectId object, CrdtState before, CrdtState delta, CrdtState after, long nowNanos) {}

  /**
   * The admission has ended.
   *
   * @param others the updates of the other datacenters that are visible now
   */
  default void admitted(VersionVector others, long nowNanos) {}

  /**
   * Sets for how long former values are kept, and how much heap they may take.
   *
   * @param bytesMax the most heap that they may take, in bytes
   */
  default void configure(long retainNanos, long bytesMax) {}

  /** An object that only remembered its removal is dropped: the store no longer names it. */
  default void dropped(ObjectId object) {}

  /** Forgets former values that are older than the retention. */
  default void expire(long nowNanos) {}

  /** Returns when {@link #expire} has something to do; Long.MAX_VALUE if never. */
  default long nextNanos() {
    return Long.MAX_VALUE;
  }

  /** Returns how many former values are kept. */
  default int versions() {
    return 0;
  }

  default List<Budget.Usage> memory() {
    return List.of();
  }
}
