package io.osier.bench.sim.node;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.core.Homes;
import io.osier.core.KeyspacePolicy;
import io.osier.datacenter.config.KeyspaceSettings;
import io.osier.datacenter.control.ControlPlane;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.protocol.AdminRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What {@code _osier} says at the start of a run: that the keyspaces with homes were created, as
 * also those are that a configuration file names. Production's control plane has created them.
 */
final class CreatedKeyspaces extends StandingCluster {
  private final ControlCopy copy;

  private CreatedKeyspaces(ControlCopy copy) {
    this.copy = copy;
  }

  /** Returns a copy of {@code _osier} with all keyspaces of the run that have homes. */
  static ControlCopy of(Simulation simulation) {
    ControlCopy copy = new ControlCopy("creator", simulation::nextTicket, Sabotage.NONE);
    SortedMap<String, Optional<String>> datacenters = new TreeMap<>();
    simulation.names().forEach(name -> datacenters.put(name, Optional.of(name + ":1")));
    String by = simulation.names().getFirst();
    datacenters.put(by, Optional.empty());
    ControlPlane plane =
        new ControlPlane(by, datacenters, Map.of(), () -> 1, new CreatedKeyspaces(copy));
    simulation.units().stream()
        .filter(unit -> unit.hasHomes() && unit.partition() == 0)
        .filter(unit -> !Homes.isHome(unit.policy().name()))
        .forEach(unit -> create(plane, unit.policy()));
    return copy;
  }

  private static void create(ControlPlane plane, KeyspacePolicy policy) {
    var unused =
        plane.administer(
            new AdminRequest.Administer(
                "keyspace", "create", policy.name(), KeyspaceSettings.all(policy)),
            "op");
  }

  @Override
  public Reply ask(Request request, int timeoutMillis) {
    return copy.ask(request);
  }

  @Override
  public void open(KeyspacePolicy policy, String created, boolean first, List<String> awaited) {}

  @Override
  public long incarnation(String of) {
    return 1;
  }

  @Override
  public boolean isSettled() {
    return true;
  }

  @Override
  public boolean isConnected(String of) {
    return true;
  }

  @Override
  public int protocol(String of) {
    return PeerVersions.NEWEST;
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
  public void setPeers(Peers peers) {}

  @Override
  public void compareAnew() {}

  @Override
  public void hinders(List<String> words) {}

  @Override
  public void drop(String keyspace, String created) {}

  @Override
  public void dropOthers(Map<String, String> creations) {}
}
