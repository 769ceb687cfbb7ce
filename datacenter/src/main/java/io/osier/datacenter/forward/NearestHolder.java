package io.osier.datacenter.forward;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Chooses which of several datacenters is asked: the nearest by the measured round trip, but the
 * present one unless another is clearly nearer, as clients choose theirs. Pure; used under its
 * owner's lock.
 */
final class NearestHolder {
  /** Another datacenter must be nearer by this factor. */
  private static final double NEARER = 0.7;

  /** The weight of the latest measurement in the mean. */
  private static final double WEIGHT = 0.25;

  private static final double UNKNOWN = Double.MAX_VALUE / 2;

  private static final class Way {
    double nanos = UNKNOWN;

    /** When the present measurement began; empty if there is none. */
    Optional<Long> since = Optional.empty();

    /** Until when other datacenters are preferred, since this one said that it cannot serve. */
    Optional<Long> avoidedUntil = Optional.empty();
  }

  private final Map<String, Way> ways = new HashMap<>();

  private Way way(String dc) {
    return ways.computeIfAbsent(dc, name -> new Way());
  }

  /** Begins a measurement; false if one is in progress. */
  boolean begins(String dc, long now) {
    Way way = way(dc);
    if (way.since.isPresent()) {
      return false;
    }
    way.since = Optional.of(now);
    return true;
  }

  /** Ends a measurement, with this result. */
  void measured(String dc, long nanos) {
    Way way = way(dc);
    way.since = Optional.empty();
    way.nanos = way.nanos == UNKNOWN ? nanos : way.nanos + WEIGHT * (nanos - way.nanos);
  }

  /** A datacenter is no longer connected: its measurements may not hold for the next connection. */
  void down(String dc) {
    ways.remove(dc);
  }

  /** Prefers other datacenters until this time. */
  void avoid(String dc, long until) {
    way(dc).avoidedUntil = Optional.of(until);
  }

  /**
   * Returns the round trip: as measured, or the time for which an answer has been missing, if that
   * is longer.
   */
  private double roundTrip(String dc, long now) {
    Way way = ways.get(dc);
    if (way == null) {
      return UNKNOWN;
    }
    return way.since.isPresent() && way.nanos != UNKNOWN
        ? Math.max(way.nanos, (double) (now - way.since.get()))
        : way.nanos;
  }

  /** Returns the round trip in nanoseconds; 0 if it was not measured. */
  double roundTripNanos(String dc, long now) {
    double nanos = roundTrip(dc, now);
    return nanos == UNKNOWN ? 0 : nanos;
  }

  private boolean isAvoided(String dc, long now) {
    Way way = ways.get(dc);
    return way != null && way.avoidedUntil.filter(until -> now - until < 0).isPresent();
  }

  /**
   * Returns the datacenter to ask.
   *
   * @param up the datacenters that can be asked, in the order that counts if nothing was measured
   * @param present the datacenter that was asked last; null for none
   * @return null if none can be asked
   */
  @Nullable String choose(Collection<String> up, @Nullable String present, long now) {
    List<String> good = up.stream().filter(dc -> !isAvoided(dc, now)).toList();
    Collection<String> from = good.isEmpty() ? up : good;
    String best = null;
    for (String dc : from) {
      best = best == null || roundTrip(dc, now) < roundTrip(best, now) ? dc : best;
    }
    boolean stays =
        best != null
            && present != null
            && from.contains(present)
            && roundTrip(best, now) > NEARER * roundTrip(present, now);
    return stays ? present : best;
  }
}
