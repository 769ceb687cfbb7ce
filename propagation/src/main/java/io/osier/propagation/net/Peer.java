package io.osier.propagation.net;

import io.osier.propagation.net.link.LinkTraffic;
import java.net.InetSocketAddress;

/**
 * One of the other datacenters, from when it is added until it is removed; if it is added again,
 * that is another one. Thread-safe.
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

  /** From now on there is another way to it. */
  void setDialler(Dialler to) {
    dialler = to;
  }

  /** Whether nothing of it is wanted any more. */
  boolean isRemoved() {
    return removed;
  }

  void remove() {
    removed = true;
  }
}
