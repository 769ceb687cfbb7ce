package io.osier.datacenter.store;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.StoredObjects;
import io.osier.protocol.TransactionId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The store of a partition's objects. Only the partition's thread writes; any thread may read, and
 * sees an immutable committed version of each object.
 */
public interface ObjectStore extends StoredObjects {
  /** Returns the object's state, or null if it was never written. */
  @Nullable CrdtState get(ObjectId object);

  /** As {@link #get(ObjectId)}, but also null if the stored object is damaged. */
  default @Nullable CrdtState getUndamaged(ObjectId object) {
    try {
      return get(object);
    } catch (OsierException e) {
      if (e.code() != ErrorCode.STORE_DAMAGED) {
        throw e;
      }
      return null;
    }
  }

  /** As {@link #get(ObjectId)}, for the durable state. For any thread that may wait for a disk. */
  @Nullable CrdtState getDurable(ObjectId object);

  /** Returns the states of a key: nearly always one, several after a conflict of types. */
  default List<CrdtState> get(Key key) {
    return stored(key).states();
  }

  /** As {@link #get(Key)}, for a caller that may not need the states themselves. */
  StoredKey stored(Key key);

  /**
   * Returns the durable states of a key; empty if they cannot be told at once, so that the
   * partition must be asked. For any thread.
   */
  Optional<StoredKey> durablyStored(Key key);

  /**
   * As {@link #durablyStored}, but never empty, even for a key that is changed all the time. For
   * any thread that may wait for a disk.
   */
  default StoredKey readDurably(Key key) {
    return durablyStored(key).orElseThrow();
  }

  /**
   * Returns whether {@link #durablyStored} never shows only a part of the changes that became
   * visible together; if it may, a reader of a causal keyspace must ask the partition.
   */
  default boolean showsTogether() {
    return false;
  }

  /**
   * Returns whether stored data is known to be damaged. If so, the store must be told at once which
   * of this datacenter's updates all peers have, since the next start can then mend more. For any
   * thread; cheap.
   */
  default boolean isDamaged() {
    return false;
  }

  /**
   * Called once by the partition's thread, before anything else.
   *
   * @param wake gives the partition a tick; for any thread
   */
  default void attach(Runnable wake) {}

  /** Returns whether a key's objects can be had without waiting for a disk. For any thread. */
  default boolean isCached(Key key) {
    return true;
  }

  /** Brings a key's objects into memory. For any thread but the partition's. */
  default void prefetch(Key key) {}

  /** Sets the object's state. Only for the partition's thread. */
  void put(ObjectId object, CrdtState state);

  /**
   * Forgets an object. Only for the partition's thread.
   *
   * @return false if the drop must wait until earlier writes of the object are durable
   */
  boolean drop(ObjectId object);

  /**
   * Takes the next expired objects, earliest deadline first, as far as they are known without a
   * disk; if they are not, the partition is woken later and asks again. Each deadline is given once
   * between two starts; the object may have changed since. Only for the partition's thread.
   *
   * @param untilMillis the latest deadline to return
   * @param limit the most deadlines to return
   */
  List<Deadline> expiring(long untilMillis, int limit);

  /**
   * Returns when {@link #expiring} will have something to do or to return; {@link CrdtState#NEVER}
   * if never. Only for the partition's thread.
   */
  long nextExpiryMillis();

  /**
   * Returns the next deadline after the given one of those in memory that {@link #expiring} has not
   * returned yet; null if there is none. Only for the partition's thread.
   */
  @Nullable Deadline deadlineAfter(Deadline before);

  /** Returns how many objects this incarnation forgot. For the partition's thread. */
  long forgotten();

  /**
   * As {@link #pageNow}, for durable states. For any thread.
   *
   * @param to the caller ignores this key and those after it, which may be in the page all the
   *     same; empty for no end
   * @param bytesMax the page may end with the object that makes it so large
   */
  default Page pageDurable(Optional<ObjectId> after, Optional<Key> to, int limit, long bytesMax) {
    return pageNow(after, limit, bytesMax);
  }

  /**
   * Returns objects that durably only remember their removal, in their order: a start looks at
   * these. For any thread. A store that does not outlive the process returns none.
   *
   * @param after the first object is the one after this; empty for the beginning
   * @param limit the most objects to return; fewer only at the end
   */
  default List<ObjectId> removed(Optional<ObjectId> after, int limit) {
    return List.of();
  }

  /** The least number of latest transactions whose commits are remembered. */
  int TRANSACTIONS_KEPT = 10_000;

  /**
   * Returns the latest transactions that this incarnation committed, with their last commit
   * numbers, ascending: all of them if they are fewer than {@link #TRANSACTIONS_KEPT}.
   */
  default Map<TransactionId, Long> transactions() {
    return Map.of();
  }

  /** Returns the number of keys, roughly while they are being written. */
  long size();

  /** Returns metrics of the store. For any thread. */
  default Figures figures() {
    return new Figures(size(), 0, 0, 0, 0, 0);
  }

  /**
   * Metrics of a partition's store.
   *
   * @param cachedKeys how many keys are in memory, roughly
   * @param cachedBytes what these take in the heap, about; without objects that are not durable yet
   * @param cacheBytesMax how much they may take, about; 0 where all are always in memory
   * @param misses how often a key was not in memory when it was needed, since the start
   * @param slowMisses misses for which the thread that ran the partition had to wait
   * @param logEntries own updates that are kept for datacenters that lack them
   */
  record Figures(
      long cachedKeys,
      long cachedBytes,
      long cacheBytesMax,
      long misses,
      long slowMisses,
      long logEntries) {}
}
