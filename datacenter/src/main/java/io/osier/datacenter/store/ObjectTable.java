package io.osier.datacenter.store;

import io.osier.core.HeapSize;
import io.osier.core.Key;
import io.osier.core.KeyedHash;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.PackedAnswer;
import io.osier.crdt.Query;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Keys with their objects in memory. At rest each is one array of bytes ({@link PackedObjects}), or
 * if it is large an object of packed leaves ({@link io.osier.crdt.Causal#packLeaves}); those that
 * were changed lately are kept as objects, up to a share of bytes, and packed when it is used up,
 * the longest unused first (the CLOCK algorithm: Corbató, "A paging experiment with the Multics
 * system", 1968).
 *
 * <p>A table of open addressing by extendible hashing (Fagin and others, "Extendible hashing—a fast
 * access method for dynamic files", 1979): segments of at most {@value #SEGMENT_SLOTS_MAX} places,
 * divided when they are full, so that growing never moves more than one of them. Keys are placed by
 * a keyed hash: whoever chooses them cannot make them meet.
 *
 * <p>Any thread may read, without a lock, and sees for each key objects that were put; any may
 * change, one at a time in each segment. No lock is held while objects are loaded: that keeps only
 * those waiting who want the same key.
 */
final class ObjectTable {
  /** The places of a segment before it is divided. */
  static final int SEGMENT_SLOTS_MAX = 1_024;

  /**
   * Objects that take more bytes than this are not packed whole, since each use would cost too
   * much: their leaves are.
   */
  private static final long PACKED_BYTES_MAX = 16_384;

  /**
   * So many keys that were unpacked to be read are remembered, if they are small: no budget counts
   * them, so all together take a few hundred kilobytes at most.
   */
  private static final int UNPACKED_KEPT = 64;

  private static final int UNPACKED_BYTES_MAX = 256;
  private static final int SEGMENT_SLOTS_MIN = 8;
  private static final int DIRECTORY_BITS_MIN = 4;
  private static final int DIRECTORY_BITS_MAX = 30;

  /** In the place of a key that was removed, where others may have gone past it. */
  private static final Object GONE = new Object();

  /** What a place takes, with its share of those that are free. */
  private static final int SLOT_BYTES = 2 * HeapSize.REFERENCE;

  /** Hears of what leaves the table because there is no more room for it. */
  @FunctionalInterface
  interface Evicted {
    /** Until this returns nothing else is put in the key's place; must not come back here. */
    void evicted(Key key, KeyObjects objects);
  }

  /** What stands in a key's place and is not its bytes. */
  private abstract static class Keyed {
    final Key key;

    Keyed(Key key) {
      this.key = key;
    }
  }

  /** A key that is not packed whole. */
  private static final class Loose extends Keyed {
    volatile KeyObjects objects;

    /** What it takes in the heap, with its objects, about; for the segment's lock. */
    long bytes;

    /** What of that packing would free, about; while it is queued it counts against the share. */
    long looseBytes;

    /** Whether it is among those that are packed when there is no more room, for its lock. */
    boolean isQueued;

    /** Whether it was used since it was last looked at; seen soon enough without a lock. */
    boolean isUsed;

    Loose(Key key, KeyObjects objects) {
      super(key);
      this.objects = objects;
    }
  }

  /**
   * Keeps the place of a key that is not there while a thread loads its objects, without a lock.
   * Whoever puts or removes the key meanwhile takes it from there, and nobody puts it back: so what
   * was loaded goes into the place only if nothing happened to the key since before it was read.
   * Whether something else stands there would not tell: what is newer may have been evicted again.
   */
  private static final class Loading extends Keyed {
    /** What was loaded and put into the place; null if nothing was, so that others look again. */
    final CompletableFuture<@Nullable KeyObjects> end = new CompletableFuture<>();

    Loading(Key key) {
      super(key);
    }
  }

  /** What a packed key was when it was read. */
  private record Unpacked(byte[] packed, KeyObjects objects) {}

  private static final class Segment {
    /** How many bits of their hashes its keys have in common. */
    final int bits;

    volatile AtomicReferenceArray<@Nullable Object> slots;

    /** Places that are not free, and those of them that hold a key. */
    int taken;

    int keys;

    /** Whether others are in its place; for its lock. */
    boolean isDivided;

    /** Where the search for what can be evicted goes on. */
    int hand;

    Segment(int bits, int slots) {
      this.bits = bits;
      this.slots = new AtomicReferenceArray<>(slots);
    }
  }

  private final KeyedHash hash;
  private final PackedObjects packing = new PackedObjects();
  private final AtomicLong size = new AtomicLong();

  /** By the first bits of hashes; several places of one segment follow each other. */
  private volatile AtomicReferenceArray<Segment> directory;

  private final AtomicReferenceArray<@Nullable Unpacked> unpacked =
      new AtomicReferenceArray<>(UNPACKED_KEPT);

  private final ArrayDeque<Loose> queue = new ArrayDeque<>();
  private final AtomicLong looseBytes = new AtomicLong();
  private final long looseBytesMax;
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicInteger hand = new AtomicInteger();
  private final Evicted evicted;
  private volatile long bytesMax;

  /** The object that takes more than half of that and was used last; null if there is none. */
  private volatile @Nullable Loose largest;

  /**
   * An empty table that keeps everything.
   *
   * @param looseBytesMax so many bytes of objects are not packed, about
   */
  ObjectTable(KeyedHash hash, long looseBytesMax) {
    this(hash, looseBytesMax, Long.MAX_VALUE, (key, objects) -> {});
  }

  /**
   * An empty table that keeps what was used lately.
   *
   * @param looseBytesMax so many bytes of objects are not packed, about
   * @param bytesMax so many bytes are kept, about
   * @param evicted hears of what is not kept
   */
  ObjectTable(KeyedHash hash, long looseBytesMax, long bytesMax, Evicted evicted) {
    this.hash = hash;
    this.looseBytesMax = looseBytesMax;
    this.bytesMax = bytesMax;
    this.evicted = evicted;
    this.directory = new AtomicReferenceArray<>(1 << DIRECTORY_BITS_MIN);
    for (int i = 0; i < directory.length(); i++) {
      directory.set(i, new Segment(DIRECTORY_BITS_MIN, SEGMENT_SLOTS_MIN));
    }
  }

  // ---------------------------------------------------------------- reading

  /** A key's objects, or null. */
  @Nullable KeyObjects get(Key key) {
    long h = key.hashBy(hash);
    Object found = lookUp(segment(h).slots, key, h);
    if (found instanceof Loose loose) {
      return used(loose);
    }
    return found instanceof byte[] packed ? unpacked(packed, h) : null;
  }

  /** As {@link #get(Key)}, unpacked only when its states are asked for. */
  @Nullable StoredKey stored(Key key) {
    long h = key.hashBy(hash);
    Object found = lookUp(segment(h).slots, key, h);
    if (found instanceof Loose loose) {
      return used(loose);
    }
    return found instanceof byte[] packed ? stored(packed, h) : null;
  }

  private static KeyObjects used(Loose loose) {
    if (!loose.isUsed) {
      loose.isUsed = true;
    }
    return loose.objects;
  }

  private StoredKey stored(byte[] packed, long h) {
    PackedObjects.use(packed);
    Unpacked known = unpacked.getAcquire(placeOfUnpacked(h));
    return known != null && known.packed == packed ? known.objects : new Packed(packed, h);
  }

  /** A key that was packed when it was read. */
  private final class Packed implements StoredKey {
    private final byte[] bytes;
    private final long h;

    /** Once they were asked for; the same ones, whichever thread sees them first. */
    private @Nullable List<Causal> states;

    private boolean hasAnswered;

    Packed(byte[] bytes, long h) {
      this.bytes = bytes;
      this.h = h;
    }

    @Override
    public List<Causal> states() {
      List<Causal> known = states;
      if (known == null) {
        known = unpacked(bytes, h).states();
        states = known;
      }
      return known;
    }

    @Override
    public boolean isPacked() {
      return true;
    }

    @Override
    public boolean isOnly(CrdtType type) {
      return PackedObjects.isOnly(bytes, type);
    }

    @Override
    public @Nullable PackedAnswer answer(Query query) {
      if (hasAnswered) {
        return null; // many reads of a batch cost less once it is unpacked
      }
      hasAnswered = true;
      return packing.answer(bytes, query);
    }
  }

  /** Whether a key is there. */
  boolean contains(Key key) {
    long h = key.hashBy(hash);
    Object found = lookUp(segment(h).slots, key, h);
    return found != null && !(found instanceof Loading);
  }

  /** How many keys there are. */
  long size() {
    return size.get();
  }

  /** What is kept takes so much in the heap, about, in bytes. */
  long heapBytes() {
    return bytes.get();
  }

  /** So many bytes are kept, about. */
  long bytesMax() {
    return bytesMax;
  }

  /** For tests: how many places there are. */
  int slots() {
    int slots = 0;
    Segment before = null;
    for (int i = 0; i < directory.length(); i++) {
      Segment segment = directory.get(i);
      slots += segment == before ? 0 : segment.slots.length();
      before = segment;
    }
    return slots;
  }

  /** For tests: how many places one after the other are not free, at most. */
  int longestSearch() {
    int longest = 0;
    for (int i = 0; i < directory.length(); i++) {
      AtomicReferenceArray<@Nullable Object> slots = directory.get(i).slots;
      int length = 0;
      for (int at = 0; at < 2 * slots.length(); at++) {
        length = slots.get(at % slots.length()) == null ? 0 : length + 1;
        longest = Math.max(longest, length);
      }
    }
    return longest;
  }

  private KeyObjects unpacked(byte[] packed, long h) {
    PackedObjects.use(packed);
    if (packed.length > UNPACKED_BYTES_MAX) {
      return packing.unpack(packed);
    }
    int at = placeOfUnpacked(h);
    Unpacked known = unpacked.getAcquire(at);
    if (known != null && known.packed == packed) {
      return known.objects;
    }
    KeyObjects objects = packing.unpack(packed);
    unpacked.setRelease(at, new Unpacked(packed, objects));
    return objects;
  }

  private static int placeOfUnpacked(long h) {
    return (int) (h >>> 8) & UNPACKED_KEPT - 1;
  }

  private Segment segment(long h) {
    AtomicReferenceArray<Segment> present = directory;
    return present.getAcquire((int) (h >>> (Long.SIZE - bits(present))));
  }

  private static int bits(AtomicReferenceArray<Segment> directory) {
    return Integer.numberOfTrailingZeros(directory.length());
  }

  /** What is there of a key, or null: of a place that others change, so it is read once. */
  private static @Nullable Object lookUp(
      AtomicReferenceArray<@Nullable Object> slots, Key key, long h) {
    int mask = slots.length() - 1;
    int at = (int) h & mask;
    Object there = slots.getAcquire(at);
    while (there != null && !isOf(there, key)) {
      at = at + 1 & mask;
      there = slots.getAcquire(at);
    }
    return there;
  }

  private static boolean isOf(Object entry, Key key) {
    return entry instanceof byte[] packed
        ? PackedObjects.isOf(packed, key)
        : entry instanceof Keyed keyed && keyed.key.equals(key);
  }

  /** Where a key is, negative if it is nowhere; with the segment's lock. */
  private static int find(AtomicReferenceArray<@Nullable Object> slots, Key key, long h) {
    int mask = slots.length() - 1;
    int at = (int) h & mask;
    for (Object there = slots.get(at); there != null; there = slots.get(at)) {
      if (isOf(there, key)) {
        return at;
      }
      at = at + 1 & mask;
    }
    return -1;
  }

  // ---------------------------------------------------------------- changing

  /** What is done with the segment of a key while nobody else changes it. */
  @FunctionalInterface
  private interface Changing {
    void in(Segment segment);
  }

  private void change(long h, Changing changing) {
    boolean done = false;
    while (!done) {
      Segment segment = segment(h);
      synchronized (segment) {
        if (!segment.isDivided) { // while this waited for it
          changing.in(segment);
          done = true;
        }
      }
    }
  }

  /** Sets a key's objects. Returns whether the key is new. */
  boolean put(Key key, KeyObjects objects) {
    boolean isNew = putOnly(key, objects);
    makeRoom();
    return isNew;
  }

  /** As {@link #put}, for one who holds a lock, and calls {@link #makeRoom} without it. */
  boolean putOnly(Key key, KeyObjects objects) {
    long h = key.hashBy(hash);
    boolean[] isNew = {false};
    change(
        h,
        segment -> {
          int at = find(segment.slots, key, h);
          Object before = at < 0 ? null : segment.slots.get(at);
          isNew[0] = before == null || before instanceof Loading;
          if (before instanceof Loose loose) {
            set(loose, objects, true);
          } else if (before instanceof byte[] packed) {
            bytes.addAndGet(-heapBytes(packed));
            Loose loose = new Loose(key, objects);
            set(loose, objects, true);
            segment.slots.setRelease(at, loose);
          } else if (before instanceof Loading loading) {
            segment.slots.setRelease(at, added(key, objects, true));
            loading.end.complete(null);
          } else {
            insert(segment, added(key, objects, true), h);
          }
        });
    return isNew[0];
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
        remove(mine);
      }
      mine.end.complete(put);
    }
    makeRoom();
    return put;
  }

  /** What is in the place of its key, and it itself if nothing was. */
  private Object putIfAbsent(Loading loading) {
    long h = loading.key.hashBy(hash);
    Object[] there = {loading};
    change(
        h,
        segment -> {
          int at = find(segment.slots, loading.key, h);
          if (at < 0) {
            insert(segment, loading, h);
          } else {
            there[0] = segment.slots.get(at);
          }
        });
    return there[0];
  }

  /** Puts what was loaded if nobody has changed the key since. Returns whether it did. */
  private boolean replace(Loading loading, KeyObjects objects) {
    long h = loading.key.hashBy(hash);
    boolean[] isDone = {false};
    change(
        h,
        segment -> {
          int at = find(segment.slots, loading.key, h);
          if (at >= 0 && segment.slots.get(at) == loading) {
            // What is used once only goes first.
            segment.slots.setRelease(at, added(loading.key, objects, false));
            isDone[0] = true;
          }
        });
    return isDone[0];
  }

  /** Gives up a place, if nobody else has done it. */
  private void remove(Loading loading) {
    long h = loading.key.hashBy(hash);
    change(
        h,
        segment -> {
          int at = find(segment.slots, loading.key, h);
          if (at >= 0 && segment.slots.get(at) == loading) {
            vacate(segment, at);
          }
        });
  }

  private void set(Loose loose, KeyObjects objects, boolean isUsed) {
    loose.objects = objects;
    loose.isUsed = isUsed;
    long before = loose.bytes;
    loose.bytes = objects.heapBytes(loose.key);
    bytes.addAndGet(loose.bytes - before);
    long looseBefore = loose.looseBytes;
    // Of a large one what is packed already is no reason to pack others.
    loose.looseBytes = isLarge(objects) ? objects.looseHeapBytes() : loose.bytes;
    if (bytesMax > 0 && loose.bytes > bytesMax / 2) {
      largest = loose;
    }
    if (loose.isQueued) {
      looseBytes.addAndGet(loose.looseBytes - looseBefore);
      return;
    }
    loose.isQueued = true;
    looseBytes.addAndGet(loose.looseBytes);
    queue(loose);
  }

  private void queue(Loose loose) {
    synchronized (queue) {
      queue.add(loose);
    }
  }

  private static boolean isLarge(KeyObjects objects) {
    return objects.sizeBytes() > PACKED_BYTES_MAX || objects.areDecomposed();
  }

  /** Removes a key. Returns whether it was there. */
  boolean remove(Key key) {
    long h = key.hashBy(hash);
    boolean[] found = {false};
    change(
        h,
        segment -> {
          int at = find(segment.slots, key, h);
          if (at >= 0 && segment.slots.get(at) instanceof Loading loading) {
            vacate(segment, at);
            loading.end.complete(null);
          } else if (at >= 0) {
            found[0] = true;
            remove(segment, at);
          }
        });
    return found[0];
  }

  private void remove(Segment segment, int at) {
    Object entry = segment.slots.get(at);
    if (entry instanceof Loose loose) {
      largest = loose == largest ? null : largest;
      bytes.addAndGet(-loose.bytes);
      if (loose.isQueued) {
        // Now that only the queue has it, taking it from there frees all of it.
        looseBytes.addAndGet(loose.bytes - loose.looseBytes);
        loose.looseBytes = loose.bytes;
      }
    } else {
      bytes.addAndGet(-heapBytes((byte[]) entry));
    }
    bytes.addAndGet(-SLOT_BYTES);
    size.decrementAndGet();
    vacate(segment, at);
  }

  private static void vacate(Segment segment, int at) {
    segment.slots.setRelease(at, GONE);
    segment.keys--;
  }

  private static long heapBytes(byte[] packed) {
    return HeapSize.array(packed.length, 1);
  }

  /** What was not there, counted; to be put into its place. */
  private Loose added(Key key, KeyObjects objects, boolean isUsed) {
    Loose loose = new Loose(key, objects);
    set(loose, objects, isUsed);
    bytes.addAndGet(SLOT_BYTES);
    size.incrementAndGet();
    return loose;
  }

  /** Puts what is not there in a free place. */
  private void insert(Segment segment, Object entry, long h) {
    put(segment, entry, h);
    // Three quarters at most: a search ends at the first free place.
    if (segment.taken > segment.slots.length() / 4 * 3) {
      grow(segment, h);
    }
  }

  private static void put(Segment segment, Object entry, long h) {
    AtomicReferenceArray<@Nullable Object> slots = segment.slots;
    int mask = slots.length() - 1;
    int at = (int) h & mask;
    while (slots.get(at) != null && slots.get(at) != GONE) {
      at = at + 1 & mask;
    }
    if (slots.get(at) == null) {
      segment.taken++;
    }
    segment.keys++;
    slots.setRelease(at, entry);
  }

  /** Makes a segment larger, or divides it; one that is full of what is gone is only tidied. */
  private void grow(Segment segment, long h) {
    int slots = segment.slots.length();
    int wanted = segment.keys > slots / 2 ? 2 * slots : slots;
    if (wanted <= SEGMENT_SLOTS_MAX || segment.bits == DIRECTORY_BITS_MAX) {
      Segment larger = new Segment(segment.bits, wanted);
      moveAll(segment, larger, larger);
      segment.taken = larger.taken;
      segment.slots = larger.slots;
      return;
    }
    Segment low = new Segment(segment.bits + 1, slots);
    Segment high = new Segment(segment.bits + 1, slots);
    moveAll(segment, low, high);
    replace(segment, low, high, h);
    segment.isDivided = true;
  }

  private void moveAll(Segment from, Segment low, Segment high) {
    AtomicReferenceArray<@Nullable Object> slots = from.slots;
    for (int i = 0; i < slots.length(); i++) {
      Object entry = slots.get(i);
      if (entry != null && entry != GONE) {
        long h = hashOf(entry);
        put((h >>> (Long.SIZE - 1 - from.bits) & 1) == 0 ? low : high, entry, h);
      }
    }
  }

  private long hashOf(Object entry) {
    return entry instanceof byte[] packed
        ? PackedObjects.hash(packed, hash)
        : ((Keyed) entry).key.hashBy(hash);
  }

  /** Puts two segments in the place of the one that was divided. */
  private synchronized void replace(Segment segment, Segment low, Segment high, long h) {
    AtomicReferenceArray<Segment> present = directory;
    if (segment.bits == bits(present)) {
      AtomicReferenceArray<Segment> larger = new AtomicReferenceArray<>(2 * present.length());
      for (int i = 0; i < present.length(); i++) {
        larger.setPlain(2 * i, present.get(i));
        larger.setPlain(2 * i + 1, present.get(i));
      }
      present = larger;
    }
    int places = 1 << (bits(present) - segment.bits);
    int first = (int) (h >>> (Long.SIZE - segment.bits)) * places;
    for (int i = 0; i < places; i++) {
      present.setRelease(first + i, i < places / 2 ? low : high);
    }
    directory = present;
  }

  // ---------------------------------------------------------------- room

  /** Packs and evicts what there is too much of. */
  void makeRoom() {
    if (looseBytes.get() > looseBytesMax) {
      packUnused();
    }
    if (isOver()) {
      evictUnused();
    }
  }

  /**
   * Whether there is too much. An object may be larger than all that is to be kept: the one that
   * was used last stays, since each use would read all of it anew, and leaves half to the others.
   */
  private boolean isOver() {
    Loose one = largest;
    long spared = one == null || bytesMax == 0 ? 0 : Math.max(0, one.bytes - bytesMax / 2);
    return bytes.get() - spared > bytesMax;
  }

  /** Packs those that were not used since they were last looked at, while there are too many. */
  private void packUnused() {
    while (looseBytes.get() > looseBytesMax) {
      Loose unused = takeUnused();
      if (unused == null) {
        return; // somebody else packs the last ones
      }
      pack(unused);
    }
  }

  private @Nullable Loose takeUnused() {
    synchronized (queue) {
      for (int looked = queue.size(); looked > 0; looked--) {
        Loose oldest = queue.remove();
        if (!oldest.isUsed) {
          return oldest;
        }
        oldest.isUsed = false;
        queue.add(oldest);
      }
      return queue.poll();
    }
  }

  private void pack(Loose loose) {
    long h = loose.key.hashBy(hash);
    KeyObjects large = loose.objects;
    // Without the lock, since it may take long.
    KeyObjects leavesPacked = isLarge(large) ? large.packLeaves() : large;
    change(
        h,
        segment -> {
          int at = find(segment.slots, loose.key, h);
          boolean isThere = at >= 0 && segment.slots.get(at) == loose;
          KeyObjects objects = loose.objects;
          if (isThere && isLarge(objects) && objects != large) {
            queue(loose); // changed meanwhile
            return;
          }
          loose.isQueued = false;
          looseBytes.addAndGet(-loose.looseBytes);
          if (!isThere) {
            return;
          }
          if (isLarge(objects)) {
            long before = loose.bytes;
            loose.objects = leavesPacked;
            loose.bytes = leavesPacked.heapBytes(loose.key);
            bytes.addAndGet(loose.bytes - before);
          } else {
            byte[] packed = packing.pack(loose.key, objects);
            bytes.addAndGet(heapBytes(packed) - loose.bytes);
            segment.slots.setRelease(at, packed);
          }
        });
  }

  /** From now on so many bytes are kept, about. */
  void setBytesMax(long max) {
    bytesMax = max;
    makeRoom();
  }

  /** Evicts what was not used since it was last looked at, segment by segment. */
  private void evictUnused() {
    // Twice around at most: the first time all may turn out to be used.
    for (int looked = 2 * directory.length(); looked > 0 && isOver(); looked--) {
      AtomicReferenceArray<Segment> present = directory;
      Segment segment = present.getAcquire(hand.getAndIncrement() & present.length() - 1);
      synchronized (segment) {
        if (!segment.isDivided) {
          evictUnused(segment);
        }
      }
    }
  }

  private void evictUnused(Segment segment) {
    AtomicReferenceArray<@Nullable Object> slots = segment.slots;
    for (int looked = slots.length(); looked > 0 && isOver(); looked--) {
      int at = segment.hand++ & slots.length() - 1;
      Object entry = slots.get(at);
      if (entry instanceof Loose loose) {
        if (!loose.isUsed && (loose != largest || bytesMax == 0)) {
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
