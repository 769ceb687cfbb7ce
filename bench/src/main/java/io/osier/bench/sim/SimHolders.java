package io.osier.bench.sim;

import static io.osier.bench.sim.world.Scheduler.SECOND;

import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Fault;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.RunProfile;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.SimLink;
import java.util.List;
import java.util.Random;

/** Which datacenters hold each keyspace. Used by the simulation's thread. */
public final class SimHolders {
  private static final int BREAK_SECONDS_MAX = 8;

  private final Simulation simulation;

  SimHolders(Simulation simulation) {
    this.simulation = simulation;
  }

  /** Breaks connections to holders now and then, so that others are asked. */
  void start() {
    RunProfile profile = simulation.profile();
    if (profile.has(Feature.HOLDERS) && profile.faults().contains(Fault.PARTITIONS)) {
      breakLater(new Random(profile.seed()));
    }
  }

  private void breakLater(Random random) {
    simulation
        .scheduler()
        .in(
            (1 + random.nextInt(BREAK_SECONDS_MAX * simulation.profile().pace())) * SECOND,
            () -> {
              List<SimDc> away = away();
              if (simulation.isLoading() && !away.isEmpty()) {
                String from = away.get(random.nextInt(away.size())).self().dc();
                List<SimLink> links =
                    simulation.network().links().stream().filter(l -> l.from.equals(from)).toList();
                simulation.network().flap(links.get(random.nextInt(links.size())));
                breakLater(random);
              }
            });
  }

  /** Whether a datacenter holds a unit. */
  public boolean holds(String dc, Unit unit) {
    return unit.policy().heldBy(dc);
  }

  /** The datacenters that hold a unit. */
  public List<SimDc> of(Unit unit) {
    return simulation.dcs().stream().filter(dc -> holds(dc.self().dc(), unit)).toList();
  }

  /** Those of a datacenter's peers that hold a unit, too, as far as it knows. */
  public List<String> peersOf(String dc, Unit unit) {
    return simulation.members().peersOf(dc).stream().filter(peer -> holds(peer, unit)).toList();
  }

  /** Those that do not hold the first keyspace that only some hold; none if all hold all. */
  public List<SimDc> away() {
    return simulation.units().stream()
        .map(unit -> simulation.dcs().stream().filter(dc -> !holds(dc.self().dc(), unit)).toList())
        .filter(dcs -> !dcs.isEmpty())
        .findFirst()
        .orElse(List.of());
  }

  /** Those whom a datacenter that does not hold a unit asks. */
  public List<String> serving(Unit unit) {
    return simulation.names().stream().filter(dc -> holds(dc, unit)).toList();
  }
}
