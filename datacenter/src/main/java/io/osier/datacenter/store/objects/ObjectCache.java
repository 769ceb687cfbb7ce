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
 * A partition's objects in memory: those that were used lately, up to a number of bytes, over the
 * versions of a {@link VersionStore}; and beside them what was changed and is not yet durable. That
 * cannot be evicted, so nothing is read from the store that is older than what was executed, and
 * only the partition sees it, so that no reader knows what a crash can take back (invariants I4 and
 * I5).
 *
 * <p>What is pending is bounded by what the writer lets be under way. One thread changes objects
 * and one says what has become durable; any thread may read.
 */
final class ObjectCache {
  /** Of what is kept so much is not packed, as a share and at most. */
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
   * @param bytesMax how much to keep in memory, beside what is pending
   * @param evicted is told what is evicted, and returns what is to be done if it is not pending;
   *     neither waits for others nor comes back here
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

  /** A key's objects as they were executed; reads them from the store if they are not here. */
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

  /** As {@link #get}, unpacked only when its states are asked for. */
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

  /** Whoever runs the partition waits for the disk, be it its thread or not. */
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

  /** Whether a key's objects can be had without the store. */
  boolean isCached(Key key) {
    return pending.containsKey(key) || cache.contains(key);
  }

  /**
   * Brings a key's objects here. What becomes durable while they are read takes their place, or
   * keeps them out.
   */
  void prefetch(Key key) {
    if (!pending.containsKey(key)) {
      var unused = cache.get(key, this::load);
    }
  }

  /** A key's durable states, never some of those that become durable together; empty if unknown. */
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

  /** As {@link #durablyStored}; reads what is not known from the store, without keeping it. */
  StoredKey readDurably(Key key) {
    return durablyStored(key).orElseGet(() -> read(key));
  }

  private Optional<StoredKey> knownDurable(Key key) {
    if (pending.containsKey(key)) {
      return Optional.empty();
    }
    StoredKey objects = cache.stored(key);
    // It may have become pending in between; then the cache still has what was durable before.
    return objects == null || isOld(objects) ? Optional.empty() : Optional.of(objects);
  }

  /**
   * An object, or null, without taking a place in the cache for it: a scan must not evict what is
   * hot.
   *
   * @param durable whether what is pending must not be seen
   */
  @Nullable CrdtState peek(ObjectId object, boolean durable) {
    KeyObjects objects = pending.get(object.key());
    if (objects != null && durable) {
      return read(object.key()).of(object);
    }
    return (objects == null ? peekDurable(object.key()) : objects).of(object);
  }

  /** All objects of a key, as they are now, without keeping them. */
  List<CrdtState> peek(Key key) {
    KeyObjects objects = pending.get(key);
    return List.copyOf((objects == null ? peekDurable(key) : objects).states());
  }

  /** What is old would change under whoever takes long to read it. */
  private KeyObjects peekDurable(Key key) {
    KeyObjects objects = cache.get(key);
    return objects == null || objects.areOld() ? read(key) : objects;
  }

  /** What is not yet durable. */
  Map<Key, KeyObjects> pending() {
    return pending;
  }

  // ---------------------------------------------------------------- changing

  /** Sets what is not yet durable of a key. */
  void put(Key key, KeyObjects objects) {
    pending.put(key, objects);
  }

  /**
   * As {@link #put}, where an object was dropped: from now on no snapshot of what was here before
   * is handed over, or it could be written after the drop, and the object would be back.
   */
  void putWithout(Key key, KeyObjects objects) {
    synchronized (pending) {
      pending.put(key, objects);
    }
  }

  /**
   * Puts an equal object into an object's place, if that is durable, and in memory.
   *
   * @return whether it is durable
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

  /** A group is durable: what it changed last may be read by everybody, and evicted. */
  void becameDurable(Collection<Key> changed, long group) {
    // Together: a transaction's objects must not be seen one by one.
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
    cache.makeRoom(); // which may take long: readers do not wait for it
  }

  /**
   * Told while the entry leaves, not some time afterwards: until this returns nothing else is put
   * in its place. So {@link #becameDurable} of a drop waits for it, and a drop that this does not
   * see among what is pending is written after the snapshot.
   */
  private void evicted(Key key, KeyObjects objects) {
    Runnable write = evicted.apply(key, objects);
    synchronized (pending) {
      if (!pending.containsKey(key)) {
        write.run();
      }
    }
  }

  /** From now on so much is kept, beside what is pending. */
  void setBytesMax(long bytesMax) {
    cache.setBytesMax(bytesMax);
  }

  // ---------------------------------------------------------------- figures

  long size() {
    return cache.size();
  }

  /** What is kept takes so much in the heap, about, in bytes; without what is pending. */
  long heapBytes() {
    return cache.heapBytes();
  }

  /** So much is kept, beside what is pending, about. */
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
