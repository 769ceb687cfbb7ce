package io.osier.core.trace;

import io.osier.core.ReplicaId;
import io.osier.core.TraceId;

/**
 * Computes the trace ids of one partition's updates at one origin: functions of the keyspace, the
 * partition, the origin with its incarnation, and the commit number. Immutable; thread-safe.
 */
public final class TraceStream {
  private static final long FNV_OFFSET = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  /** The odd number next to 2^64 divided by the golden ratio: its multiples are spread evenly. */
  private static final long STEP = 0x9e3779b97f4a7c15L;

  private final long draw;
  private final long high;
  private final long low;
  private final long root;

  /** Creates the stream of an origin's updates of a keyspace's partition. */
  public TraceStream(String keyspace, int partition, ReplicaId origin) {
    long name = add(FNV_OFFSET, keyspace);
    name = add(name, "/" + partition + "/");
    name = add(name, origin.dc());
    name = mix(name + origin.incarnation() * STEP);
    this.draw = mix(name + STEP);
    this.high = mix(draw + STEP);
    this.low = mix(high + STEP);
    this.root = mix(low + STEP);
  }

  private static long add(long hash, String text) {
    long next = hash;
    for (int i = 0; i < text.length(); i++) {
      next = (next ^ text.charAt(i)) * FNV_PRIME;
    }
    return next;
  }

  /** Does SplitMix64's last step: a bijection whose results look random. */
  private static long mix(long number) {
    long z = (number ^ (number >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /** Returns an update's number in the sample: evenly spread from 0 to {@link Long#MAX_VALUE}. */
  long drawn(long number) {
    return mix(draw + number * STEP) >>> 1;
  }

  /** Returns the trace of an update; no two updates of the stream have the same. */
  public TraceId id(long number) {
    return new TraceId(
        mix(high + number * STEP), notZero(mix(low + number)), notZero(mix(root + number)));
  }

  /** Replaces 0, which means that there is no trace. */
  private static long notZero(long id) {
    return id == 0 ? STEP : id;
  }
}
