package io.osier.datacenter.forward;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Which of several datacenters is asked: the nearest by the measured way there and back, and the
 * present one unless another is clearly nearer, as clients choose theirs. Pure; used under its
 * owner's lock.
 */
final class NearestHolder {
  /** Another datacenter must be nearer by this factor. */
  private static final double NEARER = 0.7;

  /** Of the last measurement, in the mean. */
  private static final double WEIGHT = 0.25;

  private static final double UNKNOWN = Double.MAX_VALUE / 2;

  private static final class Way {
    double nanos = UNKNOWN;

    /** Since when a measurement is under way. */
    Optional<Long> since = Optional.empty();

    /** It has said that it cannot serve; others go first until then. */
    Optional<Long> avoidedUntil = Optional.empty();
  }

  private final Map<String, Way> ways = new HashMap<>();

  private Way way(String dc) {
    return ways.computeIfAbsent(dc, name -> new Way());
  }

  /** A measurement begins; false if one is under way. */
  boolean begins(String dc, long now) {
    Way way = way(dc);
    if (way.since.isPresent()) {
      return false;
    }
    way.since = Optional.of(now);
    return true;
  }

  /** A measurement has ended, after so long. */
  void measured(String dc, long nanos) {
    Way way = way(dc);
    way.since = Optional.empty();
    way.nanos = way.nanos == UNKNOWN ? nanos : way.nanos + WEIGHT * (nanos - way.nanos);
  }

  /** It is not connected any more: what is known of the way may not hold for the next one. */
  void down(String dc) {
    ways.remove(dc);
  }

  /** Others go first for a while. */
  void avoid(String dc, long until) {
    way(dc).avoidedUntil = Optional.of(until);
  }

  /** The way there and back: what was measured, or for how long it has not answered by now. */
  private double roundTrip(String dc, long now) {
    Way way = ways.get(dc);
    if (way == null) {
      return UNKNOWN;
    }
    return way.since.isPresent() && way.nanos != UNKNOWN
        ? Math.max(way.nanos, (double) (now - way.since.get()))
        : way.nanos;
  }

  /** The way there and back; 0 if it was not measured. */
  double roundTripNanos(String dc, long now) {
    double nanos = roundTrip(dc, now);
    return nanos == UNKNOWN ? 0 : nanos;
  }

  private boolean isAvoided(String dc, long now) {
    Way way = ways.get(dc);
    return way != null && way.avoidedUntil.filter(until -> now - until < 0).isPresent();
  }

  /**
   * The one to ask.
   *
   * @param up those that can be asked, in the order that counts where nothing was measured
   * @param present the one that was asked last; null for none
   * @return null if there is none
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
