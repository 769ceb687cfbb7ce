package io.osier.crdt.tree;

import io.osier.core.memory.HeapSize;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Between which keys the entries of a decomposed object lie that are outside the heap, as far as
 * that is known; of those that are in memory, too, nothing is said. An LSM tree has a tombstone for
 * each entry that was deleted lately, so of a queue, to which is added at one end what is taken
 * away at the other, hundreds of thousands may lie in front of the first entry. Who begins there
 * goes through all of them, but who begins at a bound goes only through those that came since.
 *
 * <p>Immutable.
 */
public final class KeyBounds {
  /** Keys may be as large as elements: of longer ones a shorter bound is kept. */
  public static final int BYTES_MAX = 256;

  public static final long HEAP_BYTES_MAX =
      HeapSize.object(2 * HeapSize.REFERENCE + 1) + 2 * HeapSize.array(BYTES_MAX, 1);

  /** Entries may lie anywhere. */
  public static final KeyBounds UNKNOWN = new KeyBounds(null, null, false);

  /** No entry lies outside. */
  public static final KeyBounds NOTHING = new KeyBounds(null, null, true);

  /** Nothing is less; null if that is not known. */
  private final byte @Nullable [] least;

  /** Nothing is greater; null if that is not known. */
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
   * Where a walk may begin as well: nothing is left out.
   *
   * @param from where it is to begin; null for the end that it comes from
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

  /** After a walk has come to all entries: this one first. */
  public KeyBounds beginningWith(byte[] first, boolean down) {
    return down
        ? new KeyBounds(least, notLess(first), false)
        : new KeyBounds(notGreater(first), greatest, false);
  }

  /** After entries have come there that were in memory, the first and the last of these keys. */
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

  /** A key, or the beginning of it. */
  private static byte[] notGreater(byte[] key) {
    return Arrays.copyOf(key, Math.min(key.length, BYTES_MAX));
  }

  /** A key, or what follows all that begin as it does; null if nothing does. */
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
