package io.osier.propagation.transport;

import java.net.InetSocketAddress;

/**
 * One of the other datacenters, from when it is added until it is removed; if it is added again,
 * that is another one. Thread-safe.
 */
final class Peer {
  private final Traffic traffic = new Traffic();
  private volatile Dialler dialler;
  private volatile boolean removed;

  Peer(String dc, InetSocketAddress address, Peering peering) {
    this.dialler = new Dialler(dc, address, traffic, peering);
  }

  Traffic traffic() {
    return traffic;
  }

  /** The way to it. */
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

  /** The keyspaces that are here have changed. */
  void keyspacesChanged() {
    dialler.keyspacesChanged();
  }
}
