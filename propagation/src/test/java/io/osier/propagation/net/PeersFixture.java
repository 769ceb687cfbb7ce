package io.osier.propagation.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.propagation.net.link.DialAttempts;
import io.osier.propagation.net.link.Heartbeat;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.propagation.net.link.PortLimits;
import io.osier.propagation.wire.Frame;
import io.osier.testing.Opened;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.AutoClose;

/** A few datacenters whose transports are connected by networks in memory. */
abstract class PeersFixture {
  static final ReplicaId EU = new ReplicaId("eu", 100);
  static final ReplicaId US = new ReplicaId("us", 200);
  static final ReplicaId AP = new ReplicaId("ap", 300);
  static final long START = 77;
  static final Map<String, InetSocketAddress> NOBODY = Map.of();
  static final List<String> POLICIES = List.of("shop{partitions=2}");

  /** Within this time every pause between attempts is over, and a silent peer is given up. */
  static final long LONG_MILLIS =
      Heartbeat.DEAD_MILLIS + 2 * DialAttempts.PAUSE_MILLIS_MAX + StillWorld.SLOW_CLOSE_MILLIS;

  final StillWorld world = new StillWorld();
  final Map<String, HeardFrames> heard = new TreeMap<>();
  final Map<String, List<String>> policies = new HashMap<>();
  @AutoClose final Opened open = new Opened();

  static InetSocketAddress at(String host) {
    return InetSocketAddress.createUnresolved(host, 1);
  }

  static Map<String, InetSocketAddress> peers(String... dcs) {
    Map<String, InetSocketAddress> peers = new TreeMap<>();
    for (String dc : dcs) {
      peers.put(dc, at(dc));
    }
    return peers;
  }

  HeardFrames heardAt(ReplicaId replica) {
    return heardAt(replica.dc());
  }

  HeardFrames heardAt(String host) {
    return heard.computeIfAbsent(host, h -> new HeardFrames());
  }

  PeerTransport transport(ReplicaId self, Map<String, InetSocketAddress> peers) {
    return transport(self, at(self.dc()), peers);
  }

  PeerTransport transport(
      ReplicaId self, InetSocketAddress listens, Map<String, InetSocketAddress> peers) {
    return transport(new ProcessIdentity(self, "test", START, List.of()), listens, peers);
  }

  PeerTransport transport(
      ProcessIdentity process, InetSocketAddress listens, Map<String, InetSocketAddress> peers) {
    return transport(process, listens, peers, heardAt(process.replica().dc()));
  }

  PeerTransport transport(
      ProcessIdentity process,
      InetSocketAddress listens,
      Map<String, InetSocketAddress> peers,
      HeardFrames heard) {
    return open.add(
        new PeerTransport(
            process,
            listens,
            peers,
            dc -> policies.getOrDefault(process.replica().dc(), POLICIES),
            PortLimits.DEFAULT,
            heard,
            Optional.empty(),
            world.network()));
  }

  /** Creates a transport that speaks only the oldest version. */
  PeerTransport former(ReplicaId self, String... peers) {
    int version = PeerVersions.OLDEST;
    PeerTransport former =
        transport(
            new ProcessIdentity(self, "test", START, List.of(), version),
            at(self.dc()),
            peers(peers));
    former.dial();
    return former;
  }

  PeerTransport dialling(ReplicaId self, String... peers) {
    PeerTransport transport = transport(self, peers(peers));
    transport.dial();
    return transport;
  }

  static Frame ack(int sequence) {
    return new Frame.Ack(1, sequence);
  }

  static void assertUpAndDownInTurn(String dc, List<String> events) {
    boolean up = false;
    for (String event : events) {
      if (event.startsWith("up " + dc) || event.equals("down " + dc)) {
        assertThat(event.startsWith("up")).as(event + " of " + events).isNotEqualTo(up);
        up = !up;
      }
    }
  }
}
