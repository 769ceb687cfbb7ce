package io.osier.propagation.transport;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One of the other datacenters, from when it is added until it is removed; if it is added again,
 * that is another one. Thread-safe.
 */
final class Peer {
  private record Names(long asOf, List<String> names) {}

  private final String dc;
  private final Function<String, List<String>> fingerprints;
  private final Traffic traffic = new Traffic();
  private final AtomicLong keyspaceChanges = new AtomicLong();
  private volatile Dialler dialler;
  private volatile boolean removed;
  private volatile @Nullable Names names;

  Peer(String dc, InetSocketAddress address, Peering peering) {
    this.dc = dc;
    this.fingerprints = peering.fingerprints();
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

  /** The names of the keyspaces that both hold, in the order of the greeting's list. */
  List<String> keyspaces() {
    long asOf = keyspaceChanges.get(); // first: what is read next is at least as new
    Names known = names;
    if (known == null || known.asOf != asOf) {
      known = new Names(asOf, fingerprints.apply(dc).stream().map(Agreement::name).toList());
      names = known;
    }
    return known.names;
  }

  /** The keyspaces that are here have changed. */
  void keyspacesChanged() {
    keyspaceChanges.incrementAndGet();
    dialler.keyspacesChanged();
  }
}
