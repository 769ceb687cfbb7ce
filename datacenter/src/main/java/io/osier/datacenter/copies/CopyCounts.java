package io.osier.datacenter.copies;

import io.osier.datacenter.metrics.Snapshot;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/**
 * Counts how often copies answered reads, or why they did not, and why copies were dropped.
 * Thread-safe.
 */
final class CopyCounts {
  /** The reason why a copy was dropped. */
  enum Dropped {
    /** Its reads save less than its changes cost. */
    UNWORTHY,
    /** The subscription was cut, or its holder does not hold the keyspace any more. */
    CUT,
    /** The budget has no bytes left for it, or another copy saves more. */
    BUDGET,
    /** Objects of its type or size are not followed. */
    REFUSED
  }

  private final LongAdder hits = new LongAdder();
  private final LongAdder versions = new LongAdder();
  private final LongAdder staleReads = new LongAdder();
  private final LongAdder[] misses = adders(Copy.Miss.values().length);
  private final LongAdder[] dropped = adders(Dropped.values().length);

  private static LongAdder[] adders(int count) {
    return Stream.generate(LongAdder::new).limit(count).toArray(LongAdder[]::new);
  }

  void hit() {
    hits.increment();
  }

  void staleRead() {
    staleReads.increment();
  }

  /** Counts a new state that a holder has told. */
  void version() {
    versions.increment();
  }

  void missed(Copy.Miss why) {
    misses[why.ordinal()].increment();
  }

  void dropped(Dropped why) {
    dropped[why.ordinal()].increment();
  }

  Snapshot.Copies figures(int objects, int staleObjects, long bytes) {
    return new Snapshot.Copies(
        objects,
        bytes,
        hits.sum(),
        versions.sum(),
        sums(Copy.Miss.values(), misses),
        sums(Dropped.values(), dropped),
        staleObjects,
        staleReads.sum());
  }

  private static Map<String, Long> sums(Enum<?>[] reasons, LongAdder[] counts) {
    Map<String, Long> sums = new TreeMap<>();
    for (Enum<?> why : reasons) {
      sums.put(why.name().toLowerCase(Locale.ROOT), counts[why.ordinal()].sum());
    }
    return sums;
  }
}
