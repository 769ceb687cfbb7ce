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
 * Keys with their objects in memory. At rest each is one array of bytes ({@link PackedObjects}), or
 * if it is large an object of packed leaves ({@link io.osier.crdt.state.CrdtState#packLeaves});
 * those that were changed lately are kept as objects, up to a share of bytes ({@link
 * PackingQueue}). Where they stand is up to {@link SegmentTable}.
 *
 * <p>Any thread may read, without a lock, and sees for each key objects that were put; any may
 * change, one at a time in each segment. No lock is held while objects are loaded: that keeps only
 * those waiting who want the same key.
 */
final class ObjectTable {
  /**
   * Objects that take more bytes than this are not packed whole, since each use would cost too
   * much: their leaves are.
   */
  private static final long PACKED_BYTES_MAX = 16_384;

  /** Hears of what leaves the table because there is no more room for it. */
  @FunctionalInterface
  interface Evicted {
    /** Until this returns nothing else is put in the key's place; must not come back here. */
    void evicted(Key key, KeyObjects objects);
  }

  private final SegmentTable table;
  private final PackedObjects packing = new PackedObjects();
  private final PackingQueue queue;
  private final HeapUse use;
  private final Evicted evicted;

  /**
   * @param looseBytesMax so many bytes of objects are not packed, about
   */
  ObjectTable(KeyedHash hash, long looseBytesMax) {
    this(hash, looseBytesMax, Long.MAX_VALUE, (key, objects) -> {});
  }

  /**
   * An empty table that keeps what was used lately.
   *
   * @param bytesMax so many bytes are kept, about
   * @param evicted hears of what is not kept
   */
  ObjectTable(KeyedHash hash, long looseBytesMax, long bytesMax, Evicted evicted) {
    this.table = new SegmentTable(hash);
    this.queue = new PackingQueue(looseBytesMax);
    this.use = new HeapUse(bytesMax);
    this.evicted = evicted;
  }

  // ---------------------------------------------------------------- reading

  /** A key's objects, or null. */
  @Nullable KeyObjects get(Key key) {
    Object found = table.get(key, table.hash(key));
    if (found instanceof Loose loose) {
      return used(loose);
    }
    return found instanceof byte[] packed ? packing.unpack(used(packed)) : null;
  }

  /** As {@link #get(Key)}, unpacked only when its states are asked for. */
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

  /** What is kept takes so much in the heap, about, in bytes. */
  long heapBytes() {
    return use.bytes();
  }

  /** Where keys stand, and their hashes, for who looks for one and then puts it. */
  SegmentTable table() {
    return table;
  }

  /** So many bytes are kept, about. */
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
   * A key's objects, which are put if they are not there. Of those who want them at the same time
   * one loads them, and the others wait for it. If the key is put or removed meanwhile, what was
   * loaded may be older than that, and counts for nothing.
   *
   * @param load gives them, by the calling thread and without a lock; must not come back here
   */
  KeyObjects get(Key key, Function<Key, KeyObjects> load) {
    KeyObjects found = get(key);
    while (found == null) { // once, unless others change the key again and again
      found = tryLoad(key, load);
    }
    return found;
  }

  /** As {@link #get(Key, Function)}; null if others have intervened. */
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

  /** What is in the place of its key, and it itself if nothing was. */
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
   * Puts what was loaded into its place, or null to give the place up, if nobody has changed the
   * key since. Returns whether it did.
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
            // What is used once only goes first.
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
    // Of a large one what is packed already is no reason to pack others.
    queue.put(loose, isLarge(objects) ? objects.looseHeapBytes() : loose.bytes);
  }

  private static boolean isLarge(KeyObjects objects) {
    return objects.sizeBytes() > PACKED_BYTES_MAX || objects.areDecomposed();
  }

  /** Removes a key. Returns whether it was there. */
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

  /** What was not there, counted; to be put into its place. */
  private Loose added(Key key, KeyObjects objects, boolean isUsed) {
    Loose loose = new Loose(key, objects);
    set(loose, objects, isUsed);
    use.keyCame();
    return loose;
  }

  // ---------------------------------------------------------------- room

  /** Packs and evicts what there is too much of. */
  void makeRoom() {
    packUnused();
    if (use.isOver()) {
      evictUnused();
    }
  }

  /** Packs those that were not used since they were last looked at, while there are too many. */
  private void packUnused() {
    while (queue.isOver()) {
      Loose unused = queue.take(); // null if somebody else packs the last ones
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

  /** From now on so many bytes are kept, about. */
  void setBytesMax(long max) {
    use.setBytesMax(max);
    makeRoom();
  }

  /** Evicts what was not used since it was last looked at, segment by segment. */
  private void evictUnused() {
    // Twice around at most: the first time all may turn out to be used.
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
