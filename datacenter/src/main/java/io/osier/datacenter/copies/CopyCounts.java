package io.osier.datacenter.copies;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/** How often copies answered, or why not, and why some were dropped. Thread-safe. */
public final class CopyCounts {
  /** Why a copy is no more. */
  enum Dropped {
    /** Its reads are not worth what its changes cost. */
    UNWORTHY,
    /** The subscription was cut, or its holder does not hold the keyspace any more. */
    CUT,
    /** No bytes are left for it, or another one saves more in its place. */
    BUDGET,
    /** Its type, or its size, is not followed. */
    REFUSED
  }

  /**
   * What was counted.
   *
   * @param objects that are held at present
   * @param bytes that these take of the heap, about, with those that may be old
   * @param misses reads of followed objects that were forwarded all the same, by why
   * @param dropped copies that are no more, by why
   * @param versions how often a holder has told what an object has become
   * @param staleObjects of which there is a copy that may be old
   * @param staleReads reads that were answered from such a copy
   */
  public record Figures(
      int objects,
      long bytes,
      long hits,
      Map<String, Long> misses,
      Map<String, Long> dropped,
      long versions,
      int staleObjects,
      long staleReads) {}

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

  /** A holder has told what an object has become. */
  void version() {
    versions.increment();
  }

  void missed(Copy.Miss why) {
    misses[why.ordinal()].increment();
  }

  void dropped(Dropped why) {
    dropped[why.ordinal()].increment();
  }

  Figures figures(int objects, int staleObjects, long bytes) {
    return new Figures(
        objects,
        bytes,
        hits.sum(),
        sums(Copy.Miss.values(), misses),
        sums(Dropped.values(), dropped),
        versions.sum(),
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
