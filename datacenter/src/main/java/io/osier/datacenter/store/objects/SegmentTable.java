package io.osier.datacenter.store.objects;

import io.osier.core.Key;
import io.osier.core.KeyedHash;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A hash table of keys, each with one entry: a {@link Keyed}, or a key with its objects as bytes
 * ({@link PackedObjects}). It places entries and does not know what they are worth.
 *
 * <p>It has open addressing and grows by extendible hashing (Fagin and others, "Extendible
 * hashing—a fast access method for dynamic files", 1979): segments of at most {@value
 * #SEGMENT_SLOTS_MAX} places, split when they are full, so that growing never moves more than one
 * of them. A keyed hash places keys, so that a client that chooses keys cannot make them collide.
 *
 * <p>Any thread may read, without a lock; any may change, one at a time in each segment.
 */
final class SegmentTable {
  /** The most places of a segment; a full one is split. */
  static final int SEGMENT_SLOTS_MAX = 1_024;

  private static final int SEGMENT_SLOTS_MIN = 8;
  private static final int DIRECTORY_BITS_MIN = 4;
  private static final int DIRECTORY_BITS_MAX = 30;

  /** Marks the place of a removed key, past which other keys may have been placed. */
  private static final Object GONE = new Object();

  /** An entry that is not a key's bytes. */
  abstract static class Keyed {
    final Key key;

    Keyed(Key key) {
      this.key = key;
    }
  }

  /** A part of the places. Everything but reading places needs the segment's lock. */
  static final class Segment {
    /** How many bits the hashes of its keys have in common. */
    private final int bits;

    private volatile AtomicReferenceArray<@Nullable Object> slots;

    /** The number of places that are not free, and of those that hold a key. */
    private int taken;

    private int keys;

    /** Whether two other segments have replaced this one. */
    private boolean isDivided;

    /** The place at which {@link #nextPlace} goes on. */
    private int hand;

    private Segment(int bits, int slots) {
      this.bits = bits;
      this.slots = new AtomicReferenceArray<>(slots);
    }

    int places() {
      return slots.length();
    }

    /** Returns the next place, round and round. */
    int nextPlace() {
      return hand++ & slots.length() - 1;
    }

    /**
     * Returns a place's content: an entry, null, or a mark that is neither bytes nor {@link Keyed}.
     */
    @Nullable Object get(int place) {
      return slots.get(place);
    }

    /** Replaces the entry in a place by another one of the same key. */
    void set(int place, Object entry) {
      slots.setRelease(place, entry);
    }

    /** Frees a key's place. */
    void vacate(int place) {
      slots.setRelease(place, GONE);
      keys--;
    }

    /** Returns the place of a key, negative if it has none. */
    int find(Key key, long h) {
      AtomicReferenceArray<@Nullable Object> present = slots;
      int mask = present.length() - 1;
      int at = (int) h & mask;
      for (Object there = present.get(at); there != null; there = present.get(at)) {
        if (isOf(there, key)) {
          return at;
        }
        at = at + 1 & mask;
      }
      return -1;
    }

    private void put(Object entry, long h) {
      AtomicReferenceArray<@Nullable Object> present = slots;
      int mask = present.length() - 1;
      int at = (int) h & mask;
      while (present.get(at) != null && present.get(at) != GONE) {
        at = at + 1 & mask;
      }
      if (present.get(at) == null) {
        taken++;
      }
      keys++;
      present.setRelease(at, entry);
    }
  }

  /** A change of a segment, under its lock. */
  @FunctionalInterface
  interface Change {
    void in(Segment segment);
  }

  private final KeyedHash hash;

  /** The segments by the first bits of hashes; several consecutive places may hold the same one. */
  private volatile AtomicReferenceArray<Segment> directory;

  private final AtomicInteger hand = new AtomicInteger();

  SegmentTable(KeyedHash hash) {
    this.hash = hash;
    this.directory = new AtomicReferenceArray<>(1 << DIRECTORY_BITS_MIN);
    for (int i = 0; i < directory.length(); i++) {
      directory.set(i, new Segment(DIRECTORY_BITS_MIN, SEGMENT_SLOTS_MIN));
    }
  }

  long hash(Key key) {
    return key.hashBy(hash);
  }

  /** Returns the entry of a key, or null. Others may change the place, so it is read once. */
  @Nullable Object get(Key key, long h) {
    AtomicReferenceArray<@Nullable Object> slots = segment(h).slots;
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

  private Segment segment(long h) {
    AtomicReferenceArray<Segment> present = directory;
    return present.getAcquire((int) (h >>> (Long.SIZE - bits(present))));
  }

  private static int bits(AtomicReferenceArray<Segment> directory) {
    return Integer.numberOfTrailingZeros(directory.length());
  }

  /** Applies a change to the segment of a hash. */
  void change(long h, Change change) {
    boolean done = false;
    while (!done) {
      Segment segment = segment(h);
      synchronized (segment) {
        if (!segment.isDivided) { // split while this thread waited for it
          change.in(segment);
          done = true;
        }
      }
    }
  }

  /**
   * Returns an upper bound for the number of segments: as many calls of {@link #changeNext} see
   * each once.
   */
  int segmentsMax() {
    return directory.length();
  }

  /** Applies a change to another segment with each call, round and round. */
  void changeNext(Change change) {
    AtomicReferenceArray<Segment> present = directory;
    Segment segment = present.getAcquire(hand.getAndIncrement() & present.length() - 1);
    synchronized (segment) {
      if (!segment.isDivided) {
        change.in(segment);
      }
    }
  }

  /** Adds the entry of a key that has none; under its segment's lock. */
  void insert(Segment segment, Object entry, long h) {
    segment.put(entry, h);
    // At most three quarters are taken: a search ends at the first free place.
    if (segment.taken > segment.places() / 4 * 3) {
      grow(segment, h);
    }
  }

  /** Enlarges a segment or splits it; one that is full of removed keys is only tidied. */
  private void grow(Segment segment, long h) {
    int slots = segment.places();
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
        ((h >>> (Long.SIZE - 1 - from.bits) & 1) == 0 ? low : high).put(entry, h);
      }
    }
  }

  private long hashOf(Object entry) {
    return entry instanceof byte[] packed
        ? PackedObjects.hash(packed, hash)
        : hash(((Keyed) entry).key);
  }

  /** Replaces a segment by the two into which it was split. */
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

  /** Returns how many places there are; for tests. */
  int slots() {
    int slots = 0;
    Segment before = null;
    for (int i = 0; i < directory.length(); i++) {
      Segment segment = directory.get(i);
      slots += segment == before ? 0 : segment.places();
      before = segment;
    }
    return slots;
  }

  /** Returns the longest run of places that are not free; for tests. */
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
}
