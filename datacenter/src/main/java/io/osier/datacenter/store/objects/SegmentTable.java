package io.osier.datacenter.store.objects;

import io.osier.core.Key;
import io.osier.core.KeyedHash;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A hash table of keys, each with one entry: a {@link Keyed}, or a key with its objects as bytes
 * ({@link PackedObjects}). It knows where entries stand, and not what they are worth.
 *
 * <p>It has open addressing and grows by extendible hashing (Fagin and others, "Extendible
 * hashing—a fast access method for dynamic files", 1979): segments of at most {@value
 * #SEGMENT_SLOTS_MAX} places, divided when they are full, so that growing never moves more than one
 * of them. Keys are placed by a keyed hash: whoever chooses them cannot make them meet.
 *
 * <p>Any thread may read, without a lock; any may change, one at a time in each segment.
 */
final class SegmentTable {
  /** The places of a segment before it is divided. */
  static final int SEGMENT_SLOTS_MAX = 1_024;

  private static final int SEGMENT_SLOTS_MIN = 8;
  private static final int DIRECTORY_BITS_MIN = 4;
  private static final int DIRECTORY_BITS_MAX = 30;

  /** In the place of a key that was removed, where others may have gone past it. */
  private static final Object GONE = new Object();

  /** What stands in a key's place and is not its bytes. */
  abstract static class Keyed {
    final Key key;

    Keyed(Key key) {
      this.key = key;
    }
  }

  /** Some of the places. All but the reading of places is for whoever has its lock. */
  static final class Segment {
    /** How many bits of their hashes its keys have in common. */
    private final int bits;

    private volatile AtomicReferenceArray<@Nullable Object> slots;

    /** Places that are not free, and those of them that hold a key. */
    private int taken;

    private int keys;

    /** Whether others are in its place. */
    private boolean isDivided;

    /** Where {@link #nextPlace} goes on. */
    private int hand;

    private Segment(int bits, int slots) {
      this.bits = bits;
      this.slots = new AtomicReferenceArray<>(slots);
    }

    int places() {
      return slots.length();
    }

    /** The next place, round and round. */
    int nextPlace() {
      return hand++ & slots.length() - 1;
    }

    /** What is in a place: an entry, null, or a mark that is neither bytes nor {@link Keyed}. */
    @Nullable Object get(int place) {
      return slots.get(place);
    }

    /** Puts another entry of the same key into its place. */
    void set(int place, Object entry) {
      slots.setRelease(place, entry);
    }

    /** Frees a key's place. */
    void vacate(int place) {
      slots.setRelease(place, GONE);
      keys--;
    }

    /** Where a key is, negative if it is nowhere. */
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

  /** What is done with a segment while nobody else changes it. */
  @FunctionalInterface
  interface Change {
    void in(Segment segment);
  }

  private final KeyedHash hash;

  /** By the first bits of hashes; several places of one segment follow each other. */
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

  /** The entry of a key, or null: of a place that others change, so it is read once. */
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

  /** Changes the segment where a key belongs. */
  void change(long h, Change change) {
    boolean done = false;
    while (!done) {
      Segment segment = segment(h);
      synchronized (segment) {
        if (!segment.isDivided) { // while this waited for it
          change.in(segment);
          done = true;
        }
      }
    }
  }

  /** How many segments there are at most: so many calls of {@link #changeNext} see each once. */
  int segmentsMax() {
    return directory.length();
  }

  /** Changes another segment with each call, round and round. */
  void changeNext(Change change) {
    AtomicReferenceArray<Segment> present = directory;
    Segment segment = present.getAcquire(hand.getAndIncrement() & present.length() - 1);
    synchronized (segment) {
      if (!segment.isDivided) {
        change.in(segment);
      }
    }
  }

  /** Puts the entry of a key that has none; with the lock of its segment. */
  void insert(Segment segment, Object entry, long h) {
    segment.put(entry, h);
    // Three quarters at most: a search ends at the first free place.
    if (segment.taken > segment.places() / 4 * 3) {
      grow(segment, h);
    }
  }

  /** Makes a segment larger, or divides it; one that is full of what is gone is only tidied. */
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

  /** For tests: how many places there are. */
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
}
