package io.osier.datacenter.server;

import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.propagation.net.PeerListener;
import io.osier.propagation.wire.Frame;
import java.util.List;
import java.util.Map;

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

  @Override
  public void up(ReplicaId peer, List<String> keyspaces) {}

  @Override
  public void compared(String dc, Map<String, String> differing) {}

  @Override
  public void down(String dc) {}

  @Override
  public void parted(String dc, List<String> keyspaces) {}

  @Override
  public void received(ReplicaId peer, String keyspace, int partition, Frame frame) {}

  @Override
  public void noted(ReplicaId peer, byte[] content) {}

  @Override
  public void second(String dc, String why) {} // no updates are taken anyway

  @Override
  public void rejected(String dc, OsierException why) {}
}
