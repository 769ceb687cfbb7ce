package io.osier.bench.systems;

import io.osier.bench.wan.WanEmulator;
import io.osier.bench.wan.WanQuality;
import io.osier.core.net.Ports;
import java.net.InetSocketAddress;

/**
 * A forwarder in front of each node's port: nodes announce it as their address, so that all that
 * they send each other passes it, and is counted by the same means for every system. It adds no
 * delay and no limit. Thread-safe.
 */
final class Forwarders implements AutoCloseable {
  private static final WanQuality PLAIN = new WanQuality(0, 0, 0);

  private final WanEmulator links = new WanEmulator(1);
  private final int[] ports = new int[Peer.NODES];

  Forwarders() {
    for (int node = 0; node < ports.length; node++) {
      ports[node] = Ports.free();
      links.open(
          Integer.toString(node), 0, new InetSocketAddress("127.0.0.1", ports[node]), PLAIN, PLAIN);
    }
  }

  /** The port of 127.0.0.1 where a node must listen. */
  int listen(int node) {
    return ports[node];
  }

  /** The port of 127.0.0.1 where others reach a node. */
  int announced(int node) {
    return links.link(Integer.toString(node)).port();
  }

  /** Payload bytes forwarded so far, both ways. */
  long bytes() {
    return links.bytes();
  }

  @Override
  public void close() {
    links.close();
  }
}
