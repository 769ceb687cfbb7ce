package io.osier.datacenter.server;

import io.osier.core.ReplicaId;
import io.osier.propagation.net.PeerListener;

/**
 * Hears nothing of the other datacenters, and lets nobody tell them anything: what comes could not
 * be stored, and what is known here is not to be gone by. Only what they ask for their clients is
 * done, as it is for clients here. Thread-safe.
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
