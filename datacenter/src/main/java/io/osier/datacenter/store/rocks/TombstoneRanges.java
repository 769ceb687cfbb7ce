package io.osier.datacenter.store.rocks;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Where walks through the records have met many tombstones, and which of these ranges is to be
 * compacted next: a tombstone stays until a compaction has brought it to the last level, and until
 * then each walk goes through it. Compactions that were asked for so take about a tenth of the time
 * at most. Knows no clock and no thread; thread-safe.
 */
final class TombstoneRanges {
  /** Fewer tombstones in one walk are no reason to rewrite anything: half a millisecond. */
  static final int SKIPPED_MIN = 1_000;

  /** Nor is it one if a walk has met at most so many for each record that it came to. */
  static final int SKIPPED_EACH = 4;

  /** After a compaction none begins for so many times as long as it took. */
  static final int REST = 9;

  /** What the ranges that are waiting take; others are met again. */
  static final int BYTES_MAX = 1 << 20;

  /** Two keys between which there are many tombstones, both included. */
  record Range(byte[] from, byte[] to) {
    /** In whatever order they are given. */
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

  /** Whether a walk has met so many tombstones that {@link #met} is to be told of it. */
  static boolean isMany(long skipped, long came) {
    return skipped >= SKIPPED_MIN && skipped > SKIPPED_EACH * came;
  }

  /**
   * A walk has met many tombstones.
   *
   * @param range what it went through
   */
  synchronized void met(Range range, long tombstones) {
    skipped += tombstones;
    if (underWay.filter(r -> r.covers(range)).isPresent()) {
      return; // it began before they were gone
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

  /** Whether {@link #begin} would give a range. */
  synchronized boolean isDue(long nowNanos) {
    boolean resting = rests && nowNanos - restsUntilNanos < 0;
    return !waiting.isEmpty() && underWay.isEmpty() && !resting;
  }

  /** The range to be compacted now; {@link #end} must follow. Empty if there is none. */
  synchronized Optional<Range> begin(long nowNanos) {
    if (!isDue(nowNanos)) {
      return Optional.empty();
    }
    underWay = Optional.of(waiting.removeFirst());
    beganNanos = nowNanos;
    return underWay;
  }

  /** The compaction that was begun has ended, well or not. */
  synchronized void end(long nowNanos) {
    underWay = Optional.empty();
    rests = true;
    restsUntilNanos = nowNanos + REST * (nowNanos - beganNanos);
    compacted++;
  }

  /** Tombstones that walks have met where they were many. */
  synchronized long skipped() {
    return skipped;
  }

  /** Compactions that were made for them. */
  synchronized long compacted() {
    return compacted;
  }
}
