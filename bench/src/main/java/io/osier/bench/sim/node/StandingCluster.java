package io.osier.bench.sim.node;

import io.osier.core.KeyspacePolicy;
import io.osier.datacenter.control.ControlHost;
import io.osier.propagation.net.link.PeerVersions;
import java.util.List;
import java.util.SortedMap;

/** What a control plane asks of a datacenter of a cluster that nobody joins or leaves. */
abstract class StandingCluster implements ControlHost {
  @Override
  public int protocolMin(String of) {
    return PeerVersions.OLDEST;
  }

  @Override
  public String clients() {
    return "";
  }

  @Override
  public List<String> progress() {
    return List.of();
  }

  @Override
  public void configure(KeyspacePolicy policy) {}

  @Override
  public void await(String keyspace, List<String> datacenters) {}

  @Override
  public void setProtocols(SortedMap<String, Integer> protocols) {}

  @Override
  public void setClients(SortedMap<String, String> clients) {}

  @Override
  public boolean isQuiet() {
    throw nobody();
  }

  @Override
  public boolean inherit(Estate estate) {
    throw nobody();
  }

  @Override
  public boolean leave(List<String> heirs) {
    throw nobody();
  }

  @Override
  public void end(String why) {
    throw nobody();
  }

  private static IllegalStateException nobody() {
    return new IllegalStateException("nobody joins or leaves the cluster");
  }
}
