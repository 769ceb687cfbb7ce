package io.osier.core;

import java.util.Arrays;

/**
 * Sets of numbers as sorted arrays of disjoint ranges: lo1, hi1, lo2, hi2, …, each pair the range
 * (lo, hi], with lo(i+1) > hi(i). Arguments are never changed.
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
   * Returns the index of the first range that does not end before the number. A binary search: when
   * a large set is cleared, many dots are looked up in many ranges.
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

  /** Returns the union of two lists of ranges; {@code a} itself if {@code b} adds nothing. */
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

  /**
   * Returns the union with one range, without walking {@code a}: small deltas are joined to
   * contexts of many ranges.
   */
  private static long[] union(long[] a, long after, long through) {
    // The ranges from here up to the next index touch the new one.
    int from = firstEndingAt(a, after);
    int to = firstEndingAt(a, through);
    to += to < a.length && a[to] <= through ? 2 : 0;
    long[] out = new long[a.length + 2 - (to - from)];
    System.arraycopy(a, 0, out, 0, from);
    out[from] = from < to ? Math.min(after, a[from]) : after;
    out[from + 1] = from < to ? Math.max(through, a[to - 1]) : through;
    System.arraycopy(a, to, out, from + 2, a.length - to);
    return out;
  }

  /** Whether {@code a} contains all numbers of {@code b}. */
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
