package io.osier.datacenter.store.objects;

import io.osier.core.Key;
import io.osier.core.KeyedHash;
import io.osier.core.memory.HeapSize;
import io.osier.datacenter.store.StoredKey;
import io.osier.datacenter.store.objects.PackingQueue.Loose;
import io.osier.datacenter.store.objects.SegmentTable.Segment;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Holds keys with their objects in memory. At rest a key is one array of bytes ({@link
 * PackedObjects}), or if it is large, objects with packed leaves ({@link
 * io.osier.crdt.state.CrdtState#packLeaves}); keys changed lately stay unpacked, up to a share of
 * bytes ({@link PackingQueue}). {@link SegmentTable} places them.
 *
 * <p>Any thread may read, without a lock, and sees for each key objects that were put; any may
 * change, one at a time in each segment. No lock is held while objects are loaded: only threads
 * that want the same key wait.
 */
final class ObjectTable {
  /**
   * Objects larger than this are not packed whole, since each use would cost too much; their leaves
   * are.
   */
  private static final long PACKED_BYTES_MAX = 16_384;

  /** Is told of keys that leave the table for lack of room. */
  @FunctionalInterface
  interface Evicted {
    /**
     * Takes an evicted key. Until this returns nothing else is put in the key's place; must not
     * call back.
     */
    void evicted(Key key, KeyObjects objects);
  }

  private final SegmentTable table;
  private final PackedObjects packing = new PackedObjects();
  private final PackingQueue queue;
  private final HeapUse use;
  private final Evicted evicted;

  /**
   * @param looseBytesMax how many bytes of objects stay unpacked, about
   */
  ObjectTable(KeyedHash hash, long looseBytesMax) {
    this(hash, looseBytesMax, Long.MAX_VALUE, (key, objects) -> {});
  }

  /**
   * An empty table that keeps the keys used lately.
   *
   * @param bytesMax how many bytes are kept, about
   * @param evicted is told of evicted keys
   */
  ObjectTable(KeyedHash hash, long looseBytesMax, long bytesMax, Evicted evicted) {
    this.table = new SegmentTable(hash);
    this.queue = new PackingQueue(looseBytesMax);
    this.use = new HeapUse(bytesMax);
    this.evicted = evicted;
  }

  // ---------------------------------------------------------------- reading

  /** Returns a key's objects, or null. */
  @Nullable KeyObjects get(Key key) {
    Object found = table.get(key, table.hash(key));
    if (found instanceof Loose loose) {
      return used(loose);
    }
    return found instanceof byte[] packed ? packing.unpack(used(packed)) : null;
  }

  /** As {@link #get(Key)}; unpacks the objects only when their states are asked for. */
  @Nullable StoredKey stored(Key key) {
    return stored(key, table.hash(key));
  }

  /** As {@link #stored(Key)}, with the key's hash. */
  @Nullable StoredKey stored(Key key, long hash) {
    Object found = table.get(key, hash);
    if (found instanceof Loose loose) {
      return used(loose);
    }
    return found instanceof byte[] packed ? new PackedKey(packing, used(packed)) : null;
  }

  private static KeyObjects used(Loose loose) {
    if (!loose.isUsed) {
      loose.isUsed = true;
    }
    return loose.objects;
  }

  private static byte[] used(byte[] packed) {
    PackedObjects.use(packed);
    return packed;
  }

  boolean contains(Key key) {
    Object found = table.get(key, table.hash(key));
    return found != null && !(found instanceof Loading);
  }

  long size() {
    return use.keys();
  }

  /** Returns what the keys take in the heap, about, in bytes. */
  long heapBytes() {
    return use.bytes();
  }

  /** Where keys stand, and their hashes, for who looks for one and then puts it. */
  SegmentTable table() {
    return table;
  }

  /** Returns how many bytes are kept, about. */
  long bytesMax() {
    return use.bytesMax();
  }

  // ---------------------------------------------------------------- changing

  /** Sets a key's objects. Returns whether the key is new. */
  boolean put(Key key, KeyObjects objects) {
    return put(key, table.hash(key), objects);
  }

  /** As {@link #put(Key, KeyObjects)}, with the key's hash. */
  boolean put(Key key, long hash, KeyObjects objects) {
    boolean isNew = put(key, hash, objects, true);
    makeRoom();
    return isNew;
  }

  /**
   * As {@link #put}, for who holds a lock, and calls {@link #makeRoom} without it: packs nothing.
   */
  void putOnly(Key key, KeyObjects objects) {
    put(key, table.hash(key), objects, false);
  }

  private boolean put(Key key, long h, KeyObjects objects, boolean packs) {
    boolean[] isNew = {false};
    table.change(
        h,
        segment -> {
          int at = segment.find(key, h);
          Object before = at < 0 ? null : segment.get(at);
          isNew[0] = before == null || before instanceof Loading;
          if (before instanceof Loose loose) {
            set(loose, objects, true);
          } else if (before instanceof byte[] packed) {
            use.add(-heapBytes(packed));
            boolean again = packs && !queue.admits() && !isLarge(objects);
            segment.set(at, again ? repacked(key, objects) : loose(key, objects));
          } else if (before instanceof Loading loading) {
            segment.set(at, added(key, objects, true));
            loading.end.complete(null);
          } else {
            table.insert(segment, added(key, objects, true), h);
          }
        });
    return isNew[0];
  }

  private byte[] repacked(Key key, KeyObjects objects) {
    byte[] packed = packing.pack(key, objects);
    use.add(heapBytes(packed));
    return used(packed);
  }

  private Loose loose(Key key, KeyObjects objects) {
    Loose loose = new Loose(key, objects);
    set(loose, objects, true);
    return loose;
  }

  /**
   * Returns a key's objects, which are loaded if they are not in memory. Of several threads that
   * want them at once, one loads and the others wait. If the key is put or removed meanwhile, the
   * loaded objects may be older than that, and are dropped.
   *
   * @param load loads them in the calling thread and without a lock; must not call back
   */
  KeyObjects get(Key key, Function<Key, KeyObjects> load) {
    KeyObjects found = get(key);
    while (found == null) { // once, unless other threads change the key again and again
      found = tryLoad(key, load);
    }
    return found;
  }

  /** As {@link #get(Key, Function)}; null if another thread changed the key meanwhile. */
  private @Nullable KeyObjects tryLoad(Key key, Function<Key, KeyObjects> load) {
    Loading mine = new Loading(key);
    Object there = putIfAbsent(mine);
    if (there != mine) {
      return there instanceof Loading others ? others.end.join() : get(key);
    }
    KeyObjects put = null;
    try {
      KeyObjects objects = load.apply(key);
      put = replace(mine, objects) ? objects : null;
    } finally {
      if (put == null) {
        replace(mine, null);
      }
      mine.end.complete(put);
    }
    makeRoom();
    return put;
  }

  /** Returns the entry in the key's place; puts this one there first if there is none. */
  private Object putIfAbsent(Loading loading) {
    long h = table.hash(loading.key);
    Object[] there = {loading};
    table.change(
        h,
        segment -> {
          int at = segment.find(loading.key, h);
          if (at < 0) {
            table.insert(segment, loading, h);
          } else {
            there[0] = segment.get(at);
          }
        });
    return there[0];
  }

  /**
   * Puts loaded objects into the key's place, or empties the place for null, unless the key was
   * changed since. Returns whether it did.
   */
  private boolean replace(Loading loading, @Nullable KeyObjects objects) {
    long h = table.hash(loading.key);
    boolean[] isDone = {false};
    table.change(
        h,
        segment -> {
          int at = segment.find(loading.key, h);
          if (at < 0 || segment.get(at) != loading) {
            return;
          }
          if (objects == null) {
            segment.vacate(at);
          } else {
            // Keys that are used only once are evicted first.
            segment.set(at, added(loading.key, objects, false));
          }
          isDone[0] = true;
        });
    return isDone[0];
  }

  private void set(Loose loose, KeyObjects objects, boolean isUsed) {
    loose.objects = objects;
    loose.isUsed = isUsed;
    long before = loose.bytes;
    loose.bytes = objects.heapBytes(loose.key);
    use.changed(loose, before);
    // For a large key only the unpacked bytes count, so that packed leaves push no other keys out.
    queue.put(loose, isLarge(objects) ? objects.looseHeapBytes() : loose.bytes);
  }

  private static boolean isLarge(KeyObjects objects) {
    return objects.sizeBytes() > PACKED_BYTES_MAX || objects.areDecomposed();
  }

  /** Removes a key. Returns whether it was in the table. */
  boolean remove(Key key) {
    long h = table.hash(key);
    boolean[] found = {false};
    table.change(
        h,
        segment -> {
          int at = segment.find(key, h);
          if (at >= 0 && segment.get(at) instanceof Loading loading) {
            segment.vacate(at);
            loading.end.complete(null);
          } else if (at >= 0) {
            found[0] = true;
            remove(segment, at);
          }
        });
    return found[0];
  }

  private void remove(Segment segment, int at) {
    Object entry = segment.get(at);
    if (entry instanceof Loose loose) {
      use.removed(loose);
      queue.removed(loose);
    } else if (entry instanceof byte[] packed) {
      use.add(-heapBytes(packed));
    }
    use.keyLeft();
    segment.vacate(at);
  }

  private static long heapBytes(byte[] packed) {
    return HeapSize.array(packed.length, 1);
  }

  /** Makes and counts the entry of a key that had none. */
  private Loose added(Key key, KeyObjects objects, boolean isUsed) {
    Loose loose = new Loose(key, objects);
    set(loose, objects, isUsed);
    use.keyCame();
    return loose;
  }

  // ---------------------------------------------------------------- room

  /** Packs and evicts keys while there are too many. */
  void makeRoom() {
    packUnused();
    if (use.isOver()) {
      evictUnused();
    }
  }

  /** Packs keys that were not used since the last look, while too many are unpacked. */
  private void packUnused() {
    while (queue.isOver()) {
      Loose unused = queue.take(); // null if another thread packs the last ones
      if (unused == null) {
        return;
      }
      pack(unused);
    }
  }

  private void pack(Loose loose) {
    KeyObjects looked = loose.objects; // without the lock, since it may take long
    boolean wasLarge = isLarge(looked);
    KeyObjects leavesPacked = wasLarge ? looked.packLeaves() : looked;
    long h = table.hash(loose.key);
    table.change(
        h,
        segment -> {
          int at = segment.find(loose.key, h);
          boolean isThere = at >= 0 && segment.get(at) == loose;
          KeyObjects objects = loose.objects;
          boolean isLarge = objects == looked ? wasLarge : isLarge(objects);
          if (isThere && isLarge && objects != looked) {
            queue.putBack(loose);
            return;
          }
          queue.done(loose);
          if (isThere && isLarge) {
            long before = loose.bytes;
            loose.objects = leavesPacked;
            loose.bytes = leavesPacked.heapBytes(loose.key);
            use.add(loose.bytes - before);
          } else if (isThere) {
            byte[] packed = packing.pack(loose.key, objects);
            use.add(heapBytes(packed) - loose.bytes);
            segment.set(at, packed);
          }
        });
  }

  /** Sets how many bytes are kept, about. */
  void setBytesMax(long max) {
    use.setBytesMax(max);
    makeRoom();
  }

  /** Evicts keys that were not used since the last look, segment by segment. */
  private void evictUnused() {
    // At most twice around: the first time all keys may turn out to be used.
    for (int looked = 2 * table.segmentsMax(); looked > 0 && use.isOver(); looked--) {
      table.changeNext(this::evictUnused);
    }
  }

  private void evictUnused(Segment segment) {
    for (int looked = segment.places(); looked > 0 && use.isOver(); looked--) {
      int at = segment.nextPlace();
      Object entry = segment.get(at);
      if (entry instanceof Loose loose) {
        if (!loose.isUsed && !use.isSpared(loose)) {
          evicted.evicted(loose.key, loose.objects);
          remove(segment, at);
        }
        loose.isUsed = false;
      } else if (entry instanceof byte[] packed && !PackedObjects.takeUse(packed)) {
        evicted.evicted(PackedObjects.key(packed), packing.unpack(packed));
        remove(segment, at);
      }
    }
  }
}
