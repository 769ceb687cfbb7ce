package io.osier.proxy;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What a session has seen of each partition, and which datacenter serves it. Thread-safe; what
 * consists of several steps is done with its lock held.
 */
final class Past {
  /**
   * Keyspace → its partitions by number; before them the one for requests to none in particular.
   */
  private final Map<String, Slice[]> slices = new HashMap<>();

  private ReplicaId at;

  /**
   * Grows when the session moves and when it sees something of a datacenter that it has left. What
   * was sent before that did not carry what is seen by then, so its answer attaches nothing.
   */
  private long epoch;

  /** The datacenter that served the session last; empty before the first request. */
  synchronized Optional<String> datacenter() {
    return Optional.ofNullable(at).map(ReplicaId::dc);
  }

  /** What was seen of a causal keyspace, which has one partition. */
  synchronized VersionVector clock(String keyspace) {
    return slice(keyspace, 0).seen();
  }

  synchronized void forget() {
    for (Slice[] all : slices.values()) {
      for (Slice slice : all) {
        if (slice != null) {
          slice.forget();
        }
      }
    }
  }

  // ---------------------------------------------------------------- with the lock held

  /** A partition; -1 stands for none in particular. */
  Slice slice(String keyspace, int partition) {
    int place = partition + 1;
    Slice[] all = slices.get(keyspace);
    if (all == null || all.length <= place) {
      all = all == null ? new Slice[place + 1] : Arrays.copyOf(all, place + 1);
      slices.put(keyspace, all);
    }
    if (all[place] == null) {
      all[place] = new Slice();
    }
    return all[place];
  }

  long epoch() {
    return epoch;
  }

  boolean isAt(ReplicaId replica) {
    return replica.equals(at);
  }

  /**
   * Notes which datacenter serves the session; another one must be shown what was seen.
   *
   * @return the one that it has left; null if it has not moved
   */
  ReplicaId moveTo(ReplicaId to) {
    if (to.equals(at)) {
      return null;
    }
    ReplicaId from = at;
    at = to;
    sawStranger();
    return from;
  }

  /** Something was seen of a datacenter that does not serve the session. */
  void sawStranger() {
    epoch++; // and no slice is attached in it
  }
}
