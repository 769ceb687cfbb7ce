package io.osier.datacenter.server;

import io.osier.core.ReplicaId;
import io.osier.propagation.net.PeerListener;

/**
 * The peer inputs of a read-only datacenter: ignores all frames and notes of other datacenters,
 * since updates could not be stored and this datacenter's knowledge may be out of date. Only
 * requests that others forward for their clients are done, like those of clients here. Thread-safe.
 */
final class DeafInputs implements PeerListener {
  private final Forwarding forwarding;

  DeafInputs(Forwarding forwarding) {
    this.forwarding = forwarding;
  }

  @Override
  public void asked(ReplicaId peer, byte[] content, Answers answers) {
    forwarding.asked(peer, content, answers);
  }

  @Override
  public void receivedAll(ReplicaId peer) {
    forwarding.receivedAll(peer);
  }
}
