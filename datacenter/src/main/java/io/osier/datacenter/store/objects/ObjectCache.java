package io.osier.datacenter.store.objects;

import io.osier.core.Key;
import io.osier.core.KeyedHash;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.StoredKey;
import io.osier.datacenter.store.VersionStore;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.StampedLock;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A partition's objects in memory, over the versions of a {@link VersionStore}: those used lately,
 * up to a number of bytes, and besides them the pending ones, which were changed and are not
 * durable yet. Pending objects are not evicted, so the store never gives an older state than the
 * executed one; and only the partition sees them, so that no reader sees what a crash can take back
 * (invariants I4 and I5).
 *
 * <p>The writer's bound on groups in flight bounds the pending objects. One thread changes objects
 * and one says what has become durable; any thread may read.
 */
final class ObjectCache {
  /** The share of the cache that is kept unpacked, and its bound in bytes. */
  private static final int UNPACKED_SHARE = 8;

  private static final long UNPACKED_BYTES_MAX = 4L << 20;

  private final VersionStore versions;
  private final BiFunction<Key, KeyObjects, Runnable> evicted;
  private final ObjectTable cache;
  private final Map<Key, KeyObjects> pending = new ConcurrentHashMap<>();
  private final StampedLock durability = new StampedLock();
  private final LongAdder misses = new LongAdder();
  private final LongAdder slowMisses = new LongAdder();

  /**
   * @param hash places the keys
   * @param bytesMax how much to keep in memory, besides pending objects
   * @param evicted is told of an evicted key, and returns the work to do if the key is not pending;
   *     neither waits for others nor calls back
   */
  ObjectCache(
      VersionStore versions,
      KeyedHash hash,
      long bytesMax,
      BiFunction<Key, KeyObjects, Runnable> evicted) {
    this.versions = versions;
    this.evicted = evicted;
    this.cache =
        new ObjectTable(
            hash, Math.min(UNPACKED_BYTES_MAX, bytesMax / UNPACKED_SHARE), bytesMax, this::evicted);
  }

  // ---------------------------------------------------------------- reading

  /** Returns a key's objects as executed; reads them from the store if they are not in memory. */
  KeyObjects get(Key key) {
    KeyObjects objects = pending.get(key);
    if (objects != null) {
      return objects;
    }
    objects = cache.get(key, this::loadWaitedFor);
    if (!objects.areOld()) {
      return objects;
    }
    KeyObjects old = objects;
    cache.remove(key);
    return cache.get(key, k -> loadWaitedFor(k).remembering(old));
  }

  /** As {@link #get}; unpacks the objects only when their states are asked for. */
  StoredKey stored(Key key) {
    KeyObjects objects = pending.get(key);
    if (objects != null) {
      return objects;
    }
    StoredKey found = cache.stored(key);
    return found == null || isOld(found) ? get(key) : found;
  }

  private static boolean isOld(StoredKey found) {
    return found instanceof KeyObjects objects && objects.areOld();
  }

  /** Counts a load for which the thread that runs the partition waits, its own or a caller's. */
  private KeyObjects loadWaitedFor(Key key) {
    slowMisses.increment();
    return load(key);
  }

  private KeyObjects load(Key key) {
    misses.increment();
    return read(key);
  }

  private KeyObjects read(Key key) {
    return KeyObjects.of(versions.load(key));
  }

  /** Returns whether a key's objects are in memory. */
  boolean isCached(Key key) {
    return pending.containsKey(key) || cache.contains(key);
  }

  /**
   * Loads a key's objects into memory. If newer ones become durable meanwhile, these replace them.
   */
  void prefetch(Key key) {
    if (!pending.containsKey(key)) {
      var unused = cache.get(key, this::load);
    }
  }

  /**
   * Returns a key's durable states, never a part of those that become durable together; empty if
   * they are not known in memory.
   */
  Optional<StoredKey> durablyStored(Key key) {
    long stamp = durability.tryOptimisticRead();
    Optional<StoredKey> found = knownDurable(key);
    if (!durability.validate(stamp)) {
      stamp = durability.readLock();
      try {
        found = knownDurable(key);
      } finally {
        durability.unlockRead(stamp);
      }
    }
    return found;
  }

  /** As {@link #durablyStored}; reads unknown objects from the store, without keeping them. */
  StoredKey readDurably(Key key) {
    return durablyStored(key).orElseGet(() -> read(key));
  }

  private Optional<StoredKey> knownDurable(Key key) {
    if (pending.containsKey(key)) {
      return Optional.empty();
    }
    StoredKey objects = cache.stored(key);
    // The key may have become pending in between; then the cache still has the durable objects.
    return objects == null || isOld(objects) ? Optional.empty() : Optional.of(objects);
  }

  /**
   * Returns an object, or null, without putting it into the cache: a scan must not evict hot
   * objects.
   *
   * @param durable whether pending changes must not be seen
   */
  @Nullable CrdtState peek(ObjectId object, boolean durable) {
    KeyObjects objects = pending.get(object.key());
    if (objects != null && durable) {
      return read(object.key()).of(object);
    }
    return (objects == null ? peekDurable(object.key()) : objects).of(object);
  }

  /** Returns all objects of a key as they are now, without keeping them. */
  List<CrdtState> peek(Key key) {
    KeyObjects objects = pending.get(key);
    return List.copyOf((objects == null ? peekDurable(key) : objects).states());
  }

  /** Reads old objects anew: they would change under a reader that takes long. */
  private KeyObjects peekDurable(Key key) {
    KeyObjects objects = cache.get(key);
    return objects == null || objects.areOld() ? read(key) : objects;
  }

  /** Returns the objects that are not yet durable. */
  Map<Key, KeyObjects> pending() {
    return pending;
  }

  // ---------------------------------------------------------------- changing

  /** Sets a key's objects, which are not yet durable. */
  void put(Key key, KeyObjects objects) {
    pending.put(key, objects);
  }

  /**
   * As {@link #put}, after an object was dropped. From now on no snapshot of a former state is
   * handed over: it could be written after the drop and bring the object back.
   */
  void putWithout(Key key, KeyObjects objects) {
    synchronized (pending) {
      pending.put(key, objects);
    }
  }

  /**
   * Replaces an object by an equal one, if it is durable and in memory.
   *
   * @return whether the object is durable
   */
  boolean replace(ObjectId object, UnaryOperator<CrdtState> by) {
    if (pending.containsKey(object.key())) {
      return false;
    }
    KeyObjects objects = cache.get(object.key());
    CrdtState state = objects == null ? null : objects.of(object);
    if (objects != null && state != null) {
      boolean unused = cache.put(object.key(), objects.with(by.apply(state), objects.group()));
    }
    return true;
  }

  /**
   * Notes that a group is durable: readers may see the objects that it changed last, and these may
   * be evicted.
   */
  void becameDurable(Collection<Key> changed, long group) {
    // All at one moment: a transaction's objects must not be seen one by one.
    long stamp = durability.writeLock();
    try {
      for (Key key : changed) {
        KeyObjects objects = pending.get(key);
        if (objects != null && objects.group() == group) {
          cache.putOnly(key, objects);
          pending.remove(key, objects);
        }
      }
    } finally {
      durability.unlockWrite(stamp);
    }
    cache.makeRoom(); // this may take long: readers do not wait for it
  }

  /**
   * Called while an entry leaves: until it returns, nothing else is put in the key's place. So
   * {@link #becameDurable} of a drop waits for it, and a drop that is not pending yet is written
   * after the snapshot.
   */
  private void evicted(Key key, KeyObjects objects) {
    Runnable write = evicted.apply(key, objects);
    synchronized (pending) {
      if (!pending.containsKey(key)) {
        write.run();
      }
    }
  }

  /** Sets how many bytes are kept, besides pending objects. */
  void setBytesMax(long bytesMax) {
    cache.setBytesMax(bytesMax);
  }

  // ---------------------------------------------------------------- figures

  long size() {
    return cache.size();
  }

  /** Returns what the cache takes in the heap, about, in bytes; without pending objects. */
  long heapBytes() {
    return cache.heapBytes();
  }

  /** Returns how many bytes are kept, about, besides pending objects. */
  long bytesMax() {
    return cache.bytesMax();
  }

  long misses() {
    return misses.sum();
  }

  long slowMisses() {
    return slowMisses.sum();
  }
}
