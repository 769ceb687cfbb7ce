package io.osier.bench.sim;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Seeds as they are given on the command line: numbers and ranges, with commas between. */
record SeedRanges(List<Range> ranges) {
  private static final Pattern RANGE = Pattern.compile("(\\d{1,18})(?:\\.\\.(\\d{1,18}))?");

  /** Consecutive seeds, including the last one. */
  record Range(long first, long last) {}

  /**
   * Reads them.
   *
   * @throws IllegalArgumentException that says what is wrong
   */
  static SeedRanges parse(String text) {
    List<Range> ranges = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      Matcher range = RANGE.matcher(part);
      if (!range.matches()) {
        throw new IllegalArgumentException(
            "must be a number or A..B, or some of them with commas between, not '" + part + "'");
      }
      long first = Long.parseLong(range.group(1));
      long last = range.group(2) == null ? first : Long.parseLong(range.group(2));
      if (first > last) {
        throw new IllegalArgumentException("must not end before it begins: '" + part + "'");
      }
      ranges.add(new Range(first, last));
    }
    return new SeedRanges(List.copyOf(ranges));
  }

  /** All of them, in the order in which they were given. */
  Iterator<Long> iterator() {
    // A stream of ranges would gather a whole range before it gives the first of it.
    Iterator<Range> left = ranges.iterator();
    return new Iterator<>() {
      private Range range = left.next();
      private long next = range.first;

      @Override
      public boolean hasNext() {
        return next <= range.last || left.hasNext();
      }

      @Override
      public Long next() {
        if (next > range.last) {
          range = left.next();
          next = range.first;
        }
        return next++;
      }
    };
  }

  /** How many they are. */
  long count() {
    return ranges.stream().mapToLong(r -> r.last - r.first + 1).sum();
  }
}
