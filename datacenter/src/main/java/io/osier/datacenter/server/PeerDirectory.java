package io.osier.datacenter.server;

import static java.util.Objects.requireNonNull;

import io.osier.core.net.HostPort;
import io.osier.datacenter.admin.Dashboard;
import io.osier.datacenter.control.Placement;
import io.osier.datacenter.control.execution.PeerLinks;
import io.osier.datacenter.metrics.report.Readiness;
import io.osier.propagation.net.PeerTransport;
import io.osier.propagation.net.link.LinkTraffic;
import io.osier.protocol.Reply;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The other datacenters, as the control plane has them: tells the transport and who speaks of them.
 * Thread-safe.
 */
final class PeerDirectory implements PeerLinks {
  private final Runnable onEnd;
  private volatile Map<String, InetSocketAddress> addresses;

  /** Of those that were given up and came again, the oldest incarnation that counts. */
  private volatile Map<String, Long> oldest = Map.of();

  private volatile Map<String, Integer> protocols = Map.of();

  /** How this one's port for clients is reached; empty until it begins. */
  private volatile String announced = "";

  /** The same of those that have said so. */
  private volatile Map<String, String> clients = Map.of();

  // Null until the datacenter has them: until then the control plane only recovers.
  private volatile @Nullable PeerTransport transport;
  private @Nullable Readiness readiness;
  private @Nullable Dashboard dashboard;

  /**
   * @param onEnd is run when this datacenter is none of the cluster any more
   */
  PeerDirectory(Map<String, InetSocketAddress> configured, Runnable onEnd) {
    this.addresses = configured;
    this.onEnd = onEnd;
  }

  /** The other datacenters by name, and where they are dialled. */
  Map<String, InetSocketAddress> addresses() {
    return addresses;
  }

  /** How the ports for clients are reached of the datacenters that have said so, by name. */
  Map<String, String> clientAddresses() {
    return clients;
  }

  /**
   * What clients are told of keyspaces that others hold.
   *
   * @param placed those that this datacenter is not to hold
   * @param open the names of those that it has all the same
   * @return as if held here those whose holders follow the load
   */
  Reply.Keyspaces holding(List<Placement.Placed> placed, Set<String> open) {
    Map<String, String> addresses = new HashMap<>();
    List<Reply.KeyspaceInfo> asHere = new ArrayList<>();
    List<Reply.HeldElsewhere> keyspaces = new ArrayList<>();
    Map<String, String> said = clients;
    for (Placement.Placed one : placed) {
      boolean isOpen = open.contains(one.policy().name());
      if (!isOpen && one.policy().rules().counts()) {
        asHere.add(Reply.KeyspaceInfo.of(one.policy()));
      } else if (!isOpen) {
        keyspaces.add(new Reply.HeldElsewhere(Reply.KeyspaceInfo.of(one.policy()), one.holders()));
        one.holders().stream()
            .filter(said::containsKey)
            .forEach(dc -> addresses.put(dc, said.get(dc)));
      }
    }
    return new Reply.Keyspaces(asHere, new Reply.Elsewhere(keyspaces, addresses));
  }

  /**
   * From now on these are told.
   *
   * @param clientAddress how this one's port for clients is reached
   */
  void begin(String clientAddress, PeerTransport with, Readiness says, Dashboard shows) {
    announced = clientAddress;
    readiness = says;
    dashboard = shows;
    transport = with; // what is written before it is seen by who reads it
    with.setVersions(protocols);
    with.setPeers(addresses, oldest);
  }

  private PeerTransport transport() {
    return requireNonNull(transport, "the control plane has started");
  }

  @Override
  public void setPeers(Map<String, InetSocketAddress> peers, Map<String, Long> incarnationsMin) {
    addresses = Map.copyOf(peers);
    oldest = Map.copyOf(incarnationsMin);
    PeerTransport to = transport;
    if (to != null) { // else it begins with them
      to.setPeers(peers, incarnationsMin);
      requireNonNull(readiness, "set with the transport").setPeers(peers.keySet());
      requireNonNull(dashboard, "set with the transport").setPeers(peers.keySet());
    }
  }

  @Override
  public int protocol(String name) {
    return transport().version(name);
  }

  @Override
  public void setProtocols(Map<String, Integer> said) {
    protocols = Map.copyOf(said);
    PeerTransport to = transport;
    if (to != null) { // else it begins with them
      to.setVersions(said);
    }
  }

  @Override
  public String clients() {
    return announced;
  }

  @Override
  public void setClients(Map<String, String> said) {
    Map<String, String> valid = new HashMap<>(said); // commands that people copy are made of it
    valid.values().removeIf(at -> HostPort.parse(at).isEmpty());
    clients = Map.copyOf(valid);
  }

  @Override
  public boolean isConnected(String name) {
    return transport().isConnected(name);
  }

  @Override
  public boolean isHeld() {
    return transport().isHeld();
  }

  @Override
  public long receivedBytes() {
    return transport().traffic().values().stream().mapToLong(LinkTraffic::receivedBytes).sum();
  }

  @Override
  public void note(String dc, byte[] content) {
    transport().note(dc, content);
  }

  @Override
  public void end(String why) {
    onEnd.run();
  }
}
