package io.osier.datacenter.partition.history;

import io.osier.core.Budget;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import java.util.List;

/**
 * What a partition keeps of what its objects held before: {@link SnapshotHistory} in a {@code
 * causal} keyspace, nothing in a {@code session} one. Hears of everything that becomes visible.
 */
public interface VersionHistory {
  /** Keeps nothing. */
  VersionHistory NONE =
      new VersionHistory() {
        @Override
        public void committing(
            ObjectId object,
            CrdtState before,
            CrdtState delta,
            CrdtState after,
            long first,
            long nowNanos) {}

        @Override
        public void committed(long number) {}

        @Override
        public void admitting(
            ObjectId object, CrdtState before, CrdtState delta, CrdtState after, long nowNanos) {}

        @Override
        public void admitted(VersionVector others, long nowNanos) {}

        @Override
        public void expire(long nowNanos) {}

        @Override
        public long nextNanos() {
          return Long.MAX_VALUE;
        }

        @Override
        public int versions() {
          return 0;
        }

        @Override
        public List<Budget.Usage> memory() {
          return List.of();
        }
      };

  /**
   * A commit of this datacenter is about to change an object. It may do so several times.
   *
   * @param before the object as it was: the very one that the new state was made from, with which
   *     that shares its parts
   * @param first the first of the commit's numbers
   */
  void committing(
      ObjectId object,
      CrdtState before,
      CrdtState delta,
      CrdtState after,
      long first,
      long nowNanos);

  /** The commit is done up to this number. */
  void committed(long number);

  /** An admission of others' updates is about to change an object; as {@link #committing}. */
  void admitting(
      ObjectId object, CrdtState before, CrdtState delta, CrdtState after, long nowNanos);

  /**
   * The admission is done.
   *
   * @param others what is visible of the other datacenters now
   */
  void admitted(VersionVector others, long nowNanos);

  /**
   * From now on so much is kept.
   *
   * @param bytesMax what that may take
   */
  default void configure(long retainNanos, long bytesMax) {}

  /** An object that only remembered its removal is dropped: the store does not tell of it. */
  default void dropped(ObjectId object) {}

  /** Forgets what is older than is to be kept. */
  void expire(long nowNanos);

  /** When {@link #expire} has something to do; Long.MAX_VALUE if never. */
  long nextNanos();

  /** How many former values are kept. */
  int versions();

  /** What is used of its budgets. */
  List<Budget.Usage> memory();
}
