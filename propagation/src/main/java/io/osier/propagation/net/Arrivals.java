package io.osier.propagation.net;

import io.netty.channel.Channel;
import io.osier.core.ReplicaId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;

/** Which incarnation of each datacenter is connected to here, and how. Thread-safe. */
final class Arrivals {
  private record Arrival(ReplicaId replica, long start, long dial, Channel channel) {
    /**
     * Whether a dial of the same process is older than this one; in a version that tells no start,
     * it may be of any with the same store.
     */
    private boolean isAfter(Arrival other) {
      return replica.equals(other.replica)
          && (start == other.start || other.start == 0)
          && other.dial != 0
          && other.dial < dial;
    }
  }

  private final Map<String, Arrival> arrivals = new ConcurrentHashMap<>();

  /** The incarnation of this name whose connection is open and is another one. */
  Optional<ReplicaId> other(String dc, Channel channel) {
    Arrival arrival = arrivals.get(dc);
    return arrival != null && arrival.channel != channel && arrival.channel.isActive()
        ? Optional.of(arrival.replica)
        : Optional.empty();
  }

  /**
   * Notes a connection, and closes the one before it: the peer gave it up, and frames that it still
   * holds must not come after newer ones.
   *
   * @param start of the peer; 0 if it does not tell
   * @param dial counts its dials; 0 if it does not tell
   * @return false if this is the one that was given up: it hung in the network, and a later dial
   *     came before it
   */
  boolean replace(ReplicaId replica, long start, long dial, Channel channel) {
    Arrival arrival = new Arrival(replica, start, dial, channel);
    AtomicReference<Arrival> before = new AtomicReference<>();
    Arrival now =
        arrivals.compute(
            replica.dc(),
            (dc, known) -> {
              before.set(known);
              return known != null && known.isAfter(arrival) ? known : arrival;
            });
    if (now != arrival) {
      return false;
    }
    Arrival replaced = before.get();
    if (replaced != null && replaced.channel != channel) {
      replaced.channel.close();
    }
    return true;
  }

  /** The channels that are open, of all datacenters. */
  List<Channel> channels() {
    return arrivals.values().stream().map(Arrival::channel).toList();
  }

  /** A connection was closed. */
  void left(String dc, Channel channel) {
    arrivals.computeIfPresent(dc, (name, a) -> a.channel == channel ? null : a);
  }
}
