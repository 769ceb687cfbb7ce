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
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The other datacenters as the control plane knows them; passes changes on to the transport, the
 * readiness and the dashboard. Thread-safe.
 */
final class PeerDirectory implements PeerLinks {
  private final Runnable onEnd;
  private volatile Map<String, InetSocketAddress> addresses;

  /** The oldest valid incarnation of each datacenter that was removed and added again. */
  private volatile Map<String, Long> oldest = Map.of();

  private volatile Map<String, Integer> protocols = Map.of();

  /** The address of this datacenter's port for clients; empty until {@link #begin}. */
  private volatile String announced = "";

  /** The addresses of other datacenters' ports for clients, as far as they have announced them. */
  private volatile Map<String, String> clients = Map.of();

  // Null until {@link #begin}; before that the control plane only recovers.
  private volatile @Nullable PeerTransport transport;
  private @Nullable Readiness readiness;
  private @Nullable Dashboard dashboard;

  /**
   * Makes a directory.
   *
   * @param configured the configured peers' addresses, by name
   * @param onEnd is run when this datacenter is no longer a member of the cluster
   */
  PeerDirectory(Map<String, InetSocketAddress> configured, Runnable onEnd) {
    this.addresses = configured;
    this.onEnd = onEnd;
  }

  /** Returns the addresses at which the other datacenters are dialled, by name. */
  Map<String, InetSocketAddress> addresses() {
    return addresses;
  }

  /**
   * Returns the addresses of other datacenters' ports for clients, by name, as far as they have
   * announced them.
   */
  Map<String, String> clientAddresses() {
    return clients;
  }

  /**
   * Returns what clients are told of keyspaces that others hold.
   *
   * @param placed the keyspaces that this datacenter should not hold
   * @param open the names of those that are still open here
   * @return the keyspaces; those whose holders follow the load are listed as held here
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
   * Begins to pass changes on.
   *
   * @param clientAddress the address of this datacenter's port for clients
   */
  void begin(String clientAddress, PeerTransport with, Readiness says, Dashboard shows) {
    announced = clientAddress;
    readiness = says;
    dashboard = shows;
    transport = with; // last: readers of it also see the writes before
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
    Map<String, String> valid = new HashMap<>(said); // people copy commands with these addresses
    valid.values().removeIf(at -> HostPort.parse(at).isEmpty());
    clients = Map.copyOf(valid);
  }

  @Override
  public boolean isConnected(String name) {
    PeerTransport to = transport;
    return to != null && to.isConnected(name);
  }

  /** Returns the names of the datacenters to which nothing can be sent at present. */
  Set<String> unreachable() {
    Set<String> names = new TreeSet<>(addresses.keySet());
    names.removeIf(this::isConnected);
    return names;
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
