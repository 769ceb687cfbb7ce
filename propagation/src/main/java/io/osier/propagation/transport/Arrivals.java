package io.osier.propagation.transport;

import io.netty.channel.Channel;
import io.osier.core.ReplicaId;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Which incarnation of each datacenter is connected to here, and how. Thread-safe. */
final class Arrivals {
  private record Arrival(ReplicaId replica, Channel channel) {}

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
   */
  void replace(ReplicaId replica, Channel channel) {
    Arrival before = arrivals.put(replica.dc(), new Arrival(replica, channel));
    if (before != null && before.channel != channel) {
      before.channel.close();
    }
  }

  /** A connection was closed. */
  void left(String dc, Channel channel) {
    arrivals.computeIfPresent(dc, (name, a) -> a.channel == channel ? null : a);
  }
}
