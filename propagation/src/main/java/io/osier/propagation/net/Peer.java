package io.osier.propagation.net;

import io.osier.propagation.net.link.LinkTraffic;
import java.net.InetSocketAddress;

/**
 * One of the other datacenters, from when it is added until it is removed; if it is added again,
 * that is another object. Thread-safe.
 */
final class Peer {
  private final LinkTraffic traffic = new LinkTraffic();
  private volatile Dialler dialler;
  private volatile boolean removed;

  Peer(String dc, InetSocketAddress address, PeeringContext peering) {
    this.dialler = new Dialler(dc, address, traffic, peering);
  }

  LinkTraffic traffic() {
    return traffic;
  }

  Dialler dialler() {
    return dialler;
  }

  /** Replaces the dialler, since the peer has another address. */
  void setDialler(Dialler to) {
    dialler = to;
  }

  /** Whether the datacenter was removed. */
  boolean isRemoved() {
    return removed;
  }

  void remove() {
    removed = true;
  }
}
