package io.osier.bench.cluster;

import io.osier.bench.cluster.WriterLoad.Audit;
import io.osier.core.Value;
import io.osier.crdt.Reading;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * The elements that sets must have or may have, and until when, in milliseconds of the system's
 * clock, which is also the datacenters'. Thread-safe.
 */
public final class Members {
  /** The time of an element that stays, and of one that is not there. */
  private static final long ALWAYS = Long.MAX_VALUE;

  private static final long NEVER = Long.MIN_VALUE;

  /** Clocks are not read at the same instant, and tick in milliseconds. */
  public static final long TOLERANCE_MILLIS = 250;

  /**
   * The knowledge about one element.
   *
   * @param mustMillis until when the element must be there
   * @param mayMillis until when the element may be there
   */
  private record Place(long mustMillis, long mayMillis) {
    static final Place THERE = new Place(ALWAYS, ALWAYS);
    static final Place GONE = new Place(NEVER, NEVER);
    static final Place UNKNOWN = new Place(NEVER, ALWAYS);
  }

  private final Map<String, Map<Value, Place>> sets = new ConcurrentHashMap<>();

  /** Returns the elements of a set; none if the key holds no set. */
  public static Set<Value> elements(Map<String, Reading> there, String set) {
    return there.get(set) instanceof Reading.Many many ? Set.copyOf(many.values()) : Set.of();
  }

  private Map<Value, Place> of(String set) {
    return sets.computeIfAbsent(set, s -> new ConcurrentHashMap<>());
  }

  /** Notes that an element without a time to live was added. */
  public void added(String set, Value element) {
    of(set).put(element, Place.THERE);
  }

  /** Notes that an element was removed. */
  public void removed(String set, Value element) {
    of(set).put(element, Place.GONE);
  }

  /** Notes that an element may or may not be there from now on. */
  public void unknown(String set, Value element) {
    of(set).put(element, Place.UNKNOWN);
  }

  /**
   * Notes that an element was added with a time to live, or got a new one, by an update that was
   * called at {@code calledMillis} and answered at {@code nowMillis}.
   */
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

  /** Notes that an element may get a new time to live, now or later. */
  public void perhapsRenewed(String set, Value element) {
    of(set).merge(element, Place.UNKNOWN, (was, is) -> new Place(was.mustMillis, is.mayMillis));
  }

  /**
   * Compares sets with the acknowledged updates.
   *
   * @param shown returns a set's elements; none if there is no such set
   * @param strangers the sets that are there, of which those without any update are surplus
   * @param fromMillis when reading the sets began
   * @param toMillis when reading the sets had ended
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
