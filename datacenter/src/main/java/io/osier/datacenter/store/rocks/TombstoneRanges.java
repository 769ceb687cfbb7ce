package io.osier.datacenter.store.rocks;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Notes where walks through the records have met many tombstones, and chooses which of these ranges
 * is compacted next: a tombstone stays until a compaction has brought it to the last level, and
 * until then each walk goes through it. These compactions take at most about a tenth of the time.
 * Knows no clock and no thread; thread-safe.
 */
final class TombstoneRanges {
  /** With fewer tombstones in a walk nothing is compacted: they cost half a millisecond. */
  static final int SKIPPED_MIN = 1_000;

  /** Nor is it if the walk met at most this many tombstones for each record it found. */
  static final int SKIPPED_EACH = 4;

  /** After a compaction none begins for this many times as long as it took. */
  static final int REST = 9;

  /** The most bytes of waiting ranges; a range that is dropped will be met again. */
  static final int BYTES_MAX = 1 << 20;

  /** Two keys between which there are many tombstones, both included. */
  record Range(byte[] from, byte[] to) {
    /** Makes a range of two keys in any order. */
    static Range between(byte[] one, byte[] other) {
      return Arrays.compareUnsigned(one, other) <= 0
          ? new Range(one, other)
          : new Range(other, one);
    }

    private boolean meets(Range other) {
      return Arrays.compareUnsigned(from, other.to) <= 0
          && Arrays.compareUnsigned(other.from, to) <= 0;
    }

    private boolean covers(Range other) {
      return Arrays.compareUnsigned(from, other.from) <= 0
          && Arrays.compareUnsigned(other.to, to) <= 0;
    }

    private Range with(Range other) {
      return new Range(
          Arrays.compareUnsigned(from, other.from) <= 0 ? from : other.from,
          Arrays.compareUnsigned(to, other.to) >= 0 ? to : other.to);
    }

    private int bytes() {
      return from.length + to.length;
    }
  }

  private final List<Range> waiting = new ArrayList<>();
  private Optional<Range> underWay = Optional.empty();
  private long beganNanos;
  private long restsUntilNanos;
  private boolean rests;
  private long skipped;
  private long compacted;

  /** Returns whether a walk has met so many tombstones that {@link #met} must be called. */
  static boolean isMany(long skipped, long came) {
    return skipped >= SKIPPED_MIN && skipped > SKIPPED_EACH * came;
  }

  /**
   * Notes that a walk has met many tombstones.
   *
   * @param range the range that it went through
   */
  synchronized void met(Range range, long tombstones) {
    skipped += tombstones;
    if (underWay.filter(r -> r.covers(range)).isPresent()) {
      return; // the walk began before they were removed
    }
    Range joined = range;
    for (Range other : List.copyOf(waiting)) {
      if (other.meets(joined)) {
        joined = joined.with(other);
        waiting.remove(other);
      }
    }
    if (waiting.stream().mapToInt(Range::bytes).sum() + joined.bytes() <= BYTES_MAX) {
      waiting.add(joined);
    }
  }

  /** Returns whether {@link #begin} would return a range. */
  synchronized boolean isDue(long nowNanos) {
    boolean resting = rests && nowNanos - restsUntilNanos < 0;
    return !waiting.isEmpty() && underWay.isEmpty() && !resting;
  }

  /**
   * Returns the range to compact now, after which {@link #end} must be called; empty if there is
   * none.
   */
  synchronized Optional<Range> begin(long nowNanos) {
    if (!isDue(nowNanos)) {
      return Optional.empty();
    }
    underWay = Optional.of(waiting.removeFirst());
    beganNanos = nowNanos;
    return underWay;
  }

  /** Notes that the compaction has ended, well or not. */
  synchronized void end(long nowNanos) {
    underWay = Optional.empty();
    rests = true;
    restsUntilNanos = nowNanos + REST * (nowNanos - beganNanos);
    compacted++;
  }

  /** Returns how many tombstones walks have met where there were many. */
  synchronized long skipped() {
    return skipped;
  }

  /** Returns how many compactions these have caused. */
  synchronized long compacted() {
    return compacted;
  }
}
