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
 * Where a partition keeps its objects. One thread writes, the partition's; any thread may read, and
 * sees for each object an immutable version that was committed.
 */
public interface ObjectStore extends StoredObjects {
  /** The object's state, or null if it was never written. */
  @Nullable CrdtState get(ObjectId object);

  /** As {@link #get(ObjectId)}, but null, too, if what was written is damaged. */
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

  /** As {@link #get(ObjectId)}, of what is durable. For any thread that may wait for a disk. */
  @Nullable CrdtState getDurable(ObjectId object);

  /** The states that a key holds: nearly always one, several after a conflict of types. */
  default List<CrdtState> get(Key key) {
    return stored(key).states();
  }

  /** As {@link #get(Key)}, for one who may have no need of the states themselves. */
  StoredKey stored(Key key);

  /** A key's states as far as durable; empty if the partition must be asked. For any thread. */
  Optional<StoredKey> durablyStored(Key key);

  /**
   * As {@link #durablyStored}, where what is changed all the time is told, too. For any thread that
   * may wait for a disk.
   */
  default StoredKey readDurably(Key key) {
    return durablyStored(key).orElseThrow();
  }

  /**
   * Whether {@link #durablyStored} never shows a part of what became visible together: otherwise a
   * reader of a causal keyspace must ask the partition.
   */
  default boolean showsTogether() {
    return false;
  }

  /**
   * Whether something of what is stored is known to be damaged: then the store is to be told at
   * once what everybody has of this datacenter's updates, since the next start mends what it can
   * spare. For any thread; cheap.
   */
  default boolean isDamaged() {
    return false;
  }

  /** Called once before all else; {@code wake}, for any thread, gives the partition a tick. */
  default void attach(Runnable wake) {}

  /** Whether a key's objects can be had without waiting for a disk. For any thread. */
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
   * @return false if that must wait until what was written of it is durable
   */
  boolean drop(ObjectId object);

  /**
   * Takes the next objects that are over, nearest first, as far as that can be told without a disk;
   * if not, the partition is woken, and asks again. Each is told once in a life, and again when it
   * is over at another time; it may have changed since. Only for the partition's thread.
   *
   * @param untilMillis those that are over by then
   * @param limit at most so many
   */
  List<Deadline> expiring(long untilMillis, int limit);

  /**
   * From when on {@link #expiring} has something to do or to tell; {@link CrdtState#NEVER} if
   * never. Only for the partition's thread.
   */
  long nextExpiryMillis();

  /**
   * The next one behind a deadline of those that {@link #expiring} has yet to take, as far as they
   * are in memory; null if there is none. Only for the partition's thread.
   */
  @Nullable Deadline deadlineAfter(Deadline before);

  /** How many objects this incarnation forgot. For the partition's thread. */
  long forgotten();

  /**
   * As {@link #pageNow}, of what is durable. For any thread.
   *
   * @param to nobody wants this key and what follows it, which may be in the page all the same;
   *     empty for no end
   * @param bytesMax the page may end with the object that makes it so large
   */
  default Page pageDurable(Optional<ObjectId> after, Optional<Key> to, int limit, long bytesMax) {
    return pageNow(after, limit, bytesMax);
  }

  /**
   * Objects that only remember their removal, as far as that is durable, in their order: what to
   * look at after a start. For any thread. Where nothing outlives the process there are none.
   *
   * @param after the first object is the one after this; empty for the beginning
   * @param limit at most so many; fewer only at the end
   */
  default List<ObjectId> removed(Optional<ObjectId> after, int limit) {
    return List.of();
  }

  /** At least so many of the latest commits of transactions are kept. */
  int TRANSACTIONS_KEPT = 10_000;

  /**
   * The latest transactions that were committed by this incarnation, with their last numbers,
   * ascending: all of them if they are fewer than {@link #TRANSACTIONS_KEPT}.
   */
  default Map<TransactionId, Long> transactions() {
    return Map.of();
  }

  /** How many keys there are, roughly while they are being written. */
  long size();

  /** What the store does. For any thread. */
  default Figures figures() {
    return new Figures(size(), 0, 0, 0, 0, 0);
  }

  /**
   * Figures of a partition's store.
   *
   * @param cachedKeys how many keys are in memory, roughly
   * @param cachedBytes what they take in the heap, about; without what is not yet durable
   * @param cacheBytesMax how much they may take, about; 0 where all are always in memory
   * @param misses how often a key was not in memory when it was needed, since the start
   * @param slowMisses misses that whoever ran the partition had to wait for
   * @param logEntries own updates that are kept for datacenters that have not got them
   */
  record Figures(
      long cachedKeys,
      long cachedBytes,
      long cacheBytesMax,
      long misses,
      long slowMisses,
      long logEntries) {}
}
