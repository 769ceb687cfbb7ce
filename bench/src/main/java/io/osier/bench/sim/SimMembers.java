package io.osier.bench.sim;

import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.world.Trace;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Knows which datacenters each one takes for its peers. Used by the simulation's thread. */
public final class SimMembers {
  private final Trace trace;
  private final Collection<SimDc> dcs;
  private final List<String> names;

  /** By datacenter, those that it takes for its peers. */
  private final Map<String, List<String>> peers = new LinkedHashMap<>();

  private final Map<String, List<String>> sharers = new LinkedHashMap<>();

  private boolean changed;

  /**
   * Everybody knows everybody.
   *
   * @param dcs all datacenters
   * @param names theirs
   */
  SimMembers(Trace trace, Collection<SimDc> dcs, List<String> names) {
    this.trace = trace;
    this.dcs = dcs;
    this.names = List.copyOf(names);
    for (String name : names) {
      peers.put(name, names.stream().filter(n -> !n.equals(name)).toList());
    }
  }

  /** Those that a datacenter takes for its peers. */
  public List<String> peersOf(String name) {
    return requireNonNull(peers.get(name), name);
  }

  /** The datacenters that share the rights of counters that a datacenter creates. */
  public List<String> sharersOf(String name) {
    return sharers.getOrDefault(name, names);
  }

  /** Sets who shares them, from when the datacenter starts or is told its peers next. */
  void share(String name, List<String> among) {
    sharers.put(name, List.copyOf(among));
  }

  /** From now on, or from its next start, these are a datacenter's peers. */
  void know(String name, List<String> others) {
    changed = true;
    peers.put(name, List.copyOf(others));
  }

  /** From now on these are a datacenter's peers. */
  void setPeers(SimDc dc, List<String> others, boolean joins) {
    String name = dc.self().dc();
    know(name, others);
    trace.note("the peers of %s are %s", dc.self(), others);
    if (dc.isUp()) {
      dc.setPeers(others, joins);
    }
  }

  /** Whether anybody has ever had other peers than at the start. */
  public boolean hasChanged() {
    return changed;
  }

  /** Whether somebody has not all others for peers now, or joins. */
  boolean isChanging() {
    return dcs.stream()
        .anyMatch(dc -> dc.isJoining() || peersOf(dc.self().dc()).size() < names.size() - 1);
  }
}
