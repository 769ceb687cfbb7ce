package io.osier.datacenter.placement;

import io.osier.datacenter.placement.DemandCounters.Counts;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The counts of a keyspace at this datacenter since the start.
 *
 * @param asked requests of this datacenter's clients
 * @param committed updates that were committed here; 0 if it is not held here
 * @param shippedBytes bytes of these shipped to one other holder
 * @param bytes of the keyspace
 * @param room bytes that can still be stored here; empty if no bound is known
 * @param wayMillis round-trip times in milliseconds, by datacenter
 */
public record Measured(
    Counts asked,
    long committed,
    long shippedBytes,
    long bytes,
    OptionalLong room,
    SortedMap<String, Double> wayMillis) {
  /** Counts of nothing. */
  public static final Measured NOTHING =
      new Measured(Counts.NONE, 0, 0, 0, OptionalLong.empty(), new TreeMap<>());

  /**
   * Returns the rates since an earlier measurement.
   *
   * @param before the load found then: values without new data keep it
   */
  public Load since(Measured earlier, Load before, long millis) {
    double seconds = millis / 1000.0;
    long measured = asked.measured() - earlier.asked.measured();
    long committedNow = earlier.committed == 0 ? 0 : Math.max(0, committed - earlier.committed);
    double shippedBefore = committed == 0 ? 0 : before.shippedBytes(); // 0 if it is not held here
    return new Load(
        Math.max(0, asked.reads() - earlier.asked.reads()) / seconds,
        measured <= 0
            ? before.readBytes()
            : (double) (asked.measuredBytes() - earlier.asked.measuredBytes()) / measured,
        Math.max(0, asked.updates() - earlier.asked.updates()) / seconds,
        committedNow / seconds,
        committedNow == 0
            ? shippedBefore
            : Math.max(0, (double) (shippedBytes - earlier.shippedBytes) / committedNow),
        bytes,
        room.isPresent() ? Math.max(1, room.getAsLong()) : 0,
        wayMillis);
  }
}
