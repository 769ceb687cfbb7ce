package io.osier.crdt.tree;

import io.osier.core.memory.HeapSize;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The bounds of the keys of a decomposed object's entries outside the heap, as far as they are
 * known; entries that are also in memory do not count. An LSM tree has a tombstone for each
 * recently deleted entry. So a queue, to which entries are added at one end and from which they are
 * removed at the other, may have hundreds of thousands of tombstones before its first entry. A walk
 * from the beginning passes all of them, but one from a bound only the newer ones.
 *
 * <p>Immutable.
 */
public final class KeyBounds {
  /** Keys may be as large as elements: for longer ones a shorter bound is kept. */
  public static final int BYTES_MAX = 256;

  public static final long HEAP_BYTES_MAX =
      HeapSize.object(2 * HeapSize.REFERENCE + 1) + 2 * HeapSize.array(BYTES_MAX, 1);

  /** Entries may lie anywhere. */
  public static final KeyBounds UNKNOWN = new KeyBounds(null, null, false);

  /** No entry lies outside the heap. */
  public static final KeyBounds NOTHING = new KeyBounds(null, null, true);

  /** No key is less; null if that is not known. */
  private final byte @Nullable [] least;

  /** No key is greater; null if that is not known. */
  private final byte @Nullable [] greatest;

  private final boolean isNothing;

  private KeyBounds(byte @Nullable [] least, byte @Nullable [] greatest, boolean isNothing) {
    this.least = least;
    this.greatest = greatest;
    this.isNothing = isNothing;
  }

  public boolean isNothing() {
    return isNothing;
  }

  /**
   * Returns where a walk may begin instead, without missing an entry.
   *
   * @param from where it is to begin; null for the end from which it comes
   */
  public byte @Nullable [] begin(byte @Nullable [] from, boolean down) {
    return isAtEnd(from, down) ? (down ? greatest : least) : from;
  }

  /** Whether a walk that begins here comes to all entries. */
  public boolean isAtEnd(byte @Nullable [] from, boolean down) {
    if (from == null) {
      return true;
    }
    byte[] bound = down ? greatest : least;
    int order = bound == null ? 0 : Arrays.compareUnsigned(from, bound);
    return down ? order > 0 : order < 0;
  }

  /** Returns the bounds after a walk over all entries has found this first key. */
  public KeyBounds beginningWith(byte[] first, boolean down) {
    return down
        ? new KeyBounds(least, notLess(first), false)
        : new KeyBounds(notGreater(first), greatest, false);
  }

  /**
   * Returns the bounds after entries were written that were in memory: the first and the last of
   * their keys are given.
   */
  public KeyBounds with(byte[] first, byte[] last) {
    if (isNothing) {
      return new KeyBounds(notGreater(first), notLess(last), false);
    }
    byte[] from =
        least == null || Arrays.compareUnsigned(least, first) <= 0 ? least : notGreater(first);
    byte[] to =
        greatest == null || Arrays.compareUnsigned(greatest, last) >= 0 ? greatest : notLess(last);
    return new KeyBounds(from, to, false);
  }

  /** Returns a key, or its beginning if it is too long. */
  private static byte[] notGreater(byte[] key) {
    return Arrays.copyOf(key, Math.min(key.length, BYTES_MAX));
  }

  /**
   * Returns a key, or if it is too long the first that follows all with its beginning; null if
   * there is none.
   */
  private static byte @Nullable [] notLess(byte[] key) {
    byte[] bound = notGreater(key);
    if (bound.length == key.length) {
      return bound;
    }
    for (int i = bound.length - 1; i >= 0; i--) {
      if (++bound[i] != 0) {
        return bound;
      }
    }
    return null;
  }
}
