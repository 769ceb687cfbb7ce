package io.osier.core;

import java.util.Arrays;

/**
 * Sets of numbers as sorted arrays of disjoint ranges: lo1, hi1, lo2, hi2, …, each pair the range
 * (lo, hi], with lo(i+1) > hi(i). An array that was given never changes.
 */
final class NumberRanges {
  private NumberRanges() {}

  /** Throws unless 0 ≤ after &lt; through. */
  static void check(long after, long through) {
    if (after < 0 || after >= through) {
      throw new IllegalArgumentException(
          "a range needs 0 <= after < through, not (" + after + ", " + through + "]");
    }
  }

  /**
   * Where the first range is that does not end before the number. Searched: when a large set is
   * cleared, many ranges are asked for as many dots.
   */
  static int firstEndingAt(long[] r, long number) {
    int low = 0;
    int high = r.length / 2;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (r[2 * middle + 1] < number) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return 2 * low;
  }

  /** The union of two lists of ranges; {@code a} itself if {@code b} adds nothing. */
  static long[] union(long[] a, long[] b) {
    if (covers(a, b)) {
      return a;
    }
    if (b.length == 2) {
      return union(a, b[0], b[1]);
    }
    long[] out = new long[a.length + b.length];
    int size = 0;
    int i = 0;
    int j = 0;
    while (i < a.length || j < b.length) {
      long lo;
      long hi;
      if (j == b.length || (i < a.length && a[i] <= b[j])) {
        lo = a[i];
        hi = a[i + 1];
        i += 2;
      } else {
        lo = b[j];
        hi = b[j + 1];
        j += 2;
      }
      if (size > 0 && lo <= out[size - 1]) {
        out[size - 1] = Math.max(out[size - 1], hi);
      } else {
        out[size++] = lo;
        out[size++] = hi;
      }
    }
    return Arrays.copyOf(out, size);
  }

  /** The same for one range: what joins small deltas to one of many ranges must not walk them. */
  private static long[] union(long[] a, long after, long through) {
    int from = firstEndingAt(a, after); // this one and those up to the next place touch it
    int to = firstEndingAt(a, through);
    to += to < a.length && a[to] <= through ? 2 : 0;
    long[] out = new long[a.length + 2 - (to - from)];
    System.arraycopy(a, 0, out, 0, from);
    out[from] = from < to ? Math.min(after, a[from]) : after;
    out[from + 1] = from < to ? Math.max(through, a[to - 1]) : through;
    System.arraycopy(a, to, out, from + 2, a.length - to);
    return out;
  }

  /** Whether all numbers of {@code b} are in {@code a}. */
  static boolean covers(long[] a, long[] b) {
    int i = firstEndingAt(a, b[1]);
    for (int j = 0; j < b.length; j += 2) {
      while (i < a.length && a[i + 1] < b[j + 1]) {
        i += 2;
      }
      if (i == a.length || a[i] > b[j]) {
        return false;
      }
    }
    return true;
  }
}
