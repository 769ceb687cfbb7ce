package io.osier.datacenter.forward;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * Decides when the round trips to which holders are measured: to all that could be asked, while
 * requests are forwarded. Pure; used under its owner's lock.
 */
final class WayMeter {
  /** How often the ways are measured while requests are forwarded. */
  static final long MEASURE_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** How long they are measured after the last request. */
  private static final long USED_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** When each holder could last have been asked, by name. */
  private final Map<String, Long> wanted = new HashMap<>();

  private long measuredAt;

  WayMeter(long now) {
    measuredAt = now - MEASURE_NANOS;
  }

  /** Notes that these datacenters could be asked. */
  void wanted(Collection<String> dcs, long now) {
    dcs.forEach(name -> wanted.put(name, now));
  }

  /** Returns whether nothing is measured. */
  boolean isIdle() {
    return wanted.isEmpty();
  }

  /** Returns the datacenters to measure now. */
  Collection<String> due(long now) {
    wanted.values().removeIf(at -> now - at > USED_NANOS);
    if (now - measuredAt < MEASURE_NANOS) {
      return List.of();
    }
    measuredAt = now;
    return new TreeSet<>(wanted.keySet());
  }
}
