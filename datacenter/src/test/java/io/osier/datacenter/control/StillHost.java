package io.osier.datacenter.control;

import io.osier.core.KeyspacePolicy;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;

/**
 * A datacenter around its control plane, whose others are all connected and of the same version,
 * and where nobody comes or goes. A test overrides what it is about.
 */
abstract class StillHost implements ControlHost {
  final String dc;
  final OsierCopy copy;

  StillHost(String dc, OsierCopy copy) {
    this.dc = dc;
    this.copy = copy;
  }

  @Override
  public Reply ask(Request request, int timeoutMillis) {
    return copy.ask(request);
  }

  @Override
  public void open(KeyspacePolicy policy, String created, boolean first, List<String> awaited) {}

  @Override
  public void drop(String name, String created) {}

  @Override
  public boolean isSettled() {
    return true;
  }

  @Override
  public void setPeers(ControlHost.Peers changed) {
    throw new AssertionError("nobody changes datacenters");
  }

  @Override
  public boolean isComplete() {
    return true;
  }

  @Override
  public boolean isShipped() {
    return true;
  }

  @Override
  public void compareAnew() {}

  @Override
  public boolean isQuiet() {
    throw new AssertionError("nobody leaves");
  }

  @Override
  public boolean inherit(ControlHost.Estate estate) {
    throw new AssertionError("nobody is given up");
  }

  @Override
  public long incarnation(String name) {
    return 0;
  }

  @Override
  public int protocol(String name) {
    return 10;
  }

  @Override
  public int protocolMin(String name) {
    return 10;
  }

  @Override
  public void setProtocols(SortedMap<String, Integer> protocols) {}

  @Override
  public String clients() {
    return dc + ":7400";
  }

  @Override
  public void setClients(SortedMap<String, String> clients) {}

  @Override
  public boolean isConnected(String name) {
    return true;
  }

  @Override
  public List<String> progress() {
    return List.of();
  }

  @Override
  public void hinders(List<String> words) {}

  @Override
  public boolean leave(List<String> heirs) {
    throw new AssertionError("nobody leaves");
  }

  @Override
  public void end(String why) {
    throw new AssertionError("nobody leaves");
  }

  @Override
  public void dropOthers(Map<String, String> creations) {}

  @Override
  public void configure(KeyspacePolicy policy) {
    throw new AssertionError("nobody changes keyspaces");
  }

  @Override
  public void await(String name, List<String> datacenters) {}
}
