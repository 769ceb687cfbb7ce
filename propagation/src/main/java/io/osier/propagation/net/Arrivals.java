package io.osier.propagation.net;

import io.netty.channel.Channel;
import io.osier.core.ReplicaId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Knows over which connection each datacenter is connected to this one, and as which incarnation.
 * Thread-safe.
 */
final class Arrivals {
  private record Arrival(ReplicaId replica, long start, long dial, Channel channel) {
    /**
     * Whether this dial is newer than another one of the same process. In a version without start
     * numbers, the other one may be of any process with the same store.
     */
    private boolean isAfter(Arrival other) {
      return replica.equals(other.replica)
          && (start == other.start || other.start == 0)
          && other.dial != 0
          && other.dial < dial;
    }
  }

  private final Map<String, Arrival> arrivals = new ConcurrentHashMap<>();

  /** Returns the incarnation of this name that has another open connection. */
  Optional<ReplicaId> other(String dc, Channel channel) {
    Arrival arrival = arrivals.get(dc);
    return arrival != null && arrival.channel != channel && arrival.channel.isActive()
        ? Optional.of(arrival.replica)
        : Optional.empty();
  }

  /**
   * Notes a connection, and closes the one before it: the peer gave that up, and frames that it
   * still holds must not come after newer ones.
   *
   * @param start of the peer's process; 0 if unknown
   * @param dial counts the process's dials; 0 if unknown
   * @return false if this is the connection that was given up: it hung in the network, and a later
   *     dial came before it
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

  /** Returns the open channels of all datacenters. */
  List<Channel> channels() {
    return arrivals.values().stream().map(Arrival::channel).toList();
  }

  /** Notes that a connection was closed. */
  void left(String dc, Channel channel) {
    arrivals.computeIfPresent(dc, (name, a) -> a.channel == channel ? null : a);
  }
}
