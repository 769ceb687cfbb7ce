package io.osier.bench.cluster;

import io.osier.bench.cluster.WriterLoad.Audit;
import io.osier.core.Value;
import io.osier.crdt.Reading;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Which elements sets must have and may have, and until when, in milliseconds by the system's
 * clock, which the datacenters go by, too. Thread-safe.
 */
public final class Members {
  /** Until for ever, and until never. */
  private static final long ALWAYS = Long.MAX_VALUE;

  private static final long NEVER = Long.MIN_VALUE;

  /** Clocks are not read at the same instant, and tick in milliseconds. */
  public static final long TOLERANCE_MILLIS = 250;

  /**
   * What is known of an element.
   *
   * @param mustMillis it must be there until then
   * @param mayMillis it may be there until then
   */
  private record Place(long mustMillis, long mayMillis) {
    static final Place THERE = new Place(ALWAYS, ALWAYS);
    static final Place GONE = new Place(NEVER, NEVER);
    static final Place UNKNOWN = new Place(NEVER, ALWAYS);
  }

  private final Map<String, Map<Value, Place>> sets = new ConcurrentHashMap<>();

  /** The elements of a set; none if it is something else. */
  public static Set<Value> elements(Map<String, Reading> there, String set) {
    return there.get(set) instanceof Reading.Many many ? Set.copyOf(many.values()) : Set.of();
  }

  private Map<Value, Place> of(String set) {
    return sets.computeIfAbsent(set, s -> new ConcurrentHashMap<>());
  }

  /** An element was added for good. */
  public void added(String set, Value element) {
    of(set).put(element, Place.THERE);
  }

  /** An element that was there was removed. */
  public void removed(String set, Value element) {
    of(set).put(element, Place.GONE);
  }

  /** Whether an element is there is not known any more, nor will it be. */
  public void unknown(String set, Value element) {
    of(set).put(element, Place.UNKNOWN);
  }

  /** An element with a time to live was added, or given a new one; called and answered then. */
  public void renewed(
      String set, Value element, long calledMillis, long nowMillis, long liveMillis) {
    of(set)
        .merge(
            element,
            new Place(calledMillis + liveMillis, nowMillis + liveMillis),
            (was, is) ->
                new Place(
                    Math.max(was.mustMillis, is.mustMillis),
                    Math.max(was.mayMillis, is.mayMillis)));
  }

  /** An element may have been given a new time to live, now or later. */
  public void perhapsRenewed(String set, Value element) {
    of(set).merge(element, Place.UNKNOWN, (was, is) -> new Place(was.mustMillis, is.mayMillis));
  }

  /**
   * Holds the sets against what was acknowledged.
   *
   * @param shown each set's elements, none if there is no such set
   * @param strangers sets that are there and to which nothing was ever added
   * @param fromMillis when they began to be read
   * @param toMillis when they had been read
   */
  public Audit audit(
      Function<String, Set<Value>> shown,
      Iterable<String> strangers,
      long fromMillis,
      long toMillis) {
    long missing = 0;
    long surplus = 0;
    for (Map.Entry<String, Map<Value, Place>> set : sets.entrySet()) {
      Set<Value> there = shown.apply(set.getKey());
      for (Map.Entry<Value, Place> each : set.getValue().entrySet()) {
        boolean isThere = there.contains(each.getKey());
        boolean must = each.getValue().mustMillis > toMillis + TOLERANCE_MILLIS;
        boolean may = each.getValue().mayMillis >= fromMillis - TOLERANCE_MILLIS;
        missing += must && !isThere ? 1 : 0;
        surplus += !may && isThere ? 1 : 0;
      }
      surplus += there.stream().filter(e -> !set.getValue().containsKey(e)).count();
    }
    return Audit.strangers(strangers, sets.keySet()).plus(new Audit(missing, surplus));
  }
}
