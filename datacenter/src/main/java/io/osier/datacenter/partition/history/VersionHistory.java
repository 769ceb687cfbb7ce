package io.osier.datacenter.partition.history;

import io.osier.core.VersionVector;
import io.osier.core.memory.Budget;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import java.util.List;

/**
 * What a partition keeps of what its objects held before: {@link SnapshotHistory} in a {@code
 * causal} keyspace, nothing in a {@code session} one. Hears of everything that becomes visible.
 */
public interface VersionHistory {
  /** Keeps nothing. */
  VersionHistory NONE = new VersionHistory() {};

  /**
   * A commit of this datacenter is about to change an object. It may do so several times.
   *
   * @param before the object as it was: the very one that the new state was made from, with which
   *     that shares its parts
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

  /** An admission of others' updates is about to change an object; as {@link #committing}. */
  default void admitting(
      ObjectId object, CrdtState before, CrdtState delta, CrdtState after, long nowNanos) {}

  /**
   * The admission is done.
   *
   * @param others what is visible of the other datacenters now
   */
  default void admitted(VersionVector others, long nowNanos) {}

  /**
   * From now on so much is kept.
   *
   * @param bytesMax what that may take
   */
  default void configure(long retainNanos, long bytesMax) {}

  /** An object that only remembered its removal is dropped: the store does not tell of it. */
  default void dropped(ObjectId object) {}

  /** Forgets what is older than is to be kept. */
  default void expire(long nowNanos) {}

  /** When {@link #expire} has something to do; Long.MAX_VALUE if never. */
  default long nextNanos() {
    return Long.MAX_VALUE;
  }

  /** How many former values are kept. */
  default int versions() {
    return 0;
  }

  default List<Budget.Usage> memory() {
    return List.of();
  }
}
