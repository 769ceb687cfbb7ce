package io.osier.bench.sim;

import static io.osier.bench.sim.world.Scheduler.SECOND;

import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Fault;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.RunProfile;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.SimLink;
import io.osier.core.OsierException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Breaks connections to holders now and then, so that others are asked; and operators who alter who
 * holds a keyspace, while all serve.
 */
final class HolderChanges {
  private static final int BREAK_SECONDS_MAX = 8;
  private static final int ALTER_SECONDS_MAX = 30;

  private final Simulation simulation;

  HolderChanges(Simulation simulation) {
    this.simulation = simulation;
  }

  void start() {
    RunProfile profile = simulation.profile();
    if (!profile.has(Feature.HOLDERS)) {
      return;
    }
    Random random = new Random(profile.seed() * 0x9E3779B97F4A7C15L);
    if (profile.faults().contains(Fault.PARTITIONS)) {
      breakLater(random);
    }
    for (Unit unit : simulation.units()) {
      List<String> anchors = anchors(unit);
      if (unit.partition() == 0 && !unit.policy().replicas().isEmpty() && random.nextInt(4) > 0) {
        alterLater(unit, anchors, random);
      }
    }
  }

  /** The holders that lose nothing in a crash: one of them must stay, since others may lose all. */
  private List<String> anchors(Unit unit) {
    return simulation.holders().keeping().stream().filter(unit.policy()::heldBy).toList();
  }

  private void breakLater(Random random) {
    simulation
        .scheduler()
        .in(
            (1 + random.nextInt(BREAK_SECONDS_MAX * simulation.profile().pace())) * SECOND,
            () -> {
              List<SimDc> away = simulation.holders().away();
              if (simulation.isLoading() && !away.isEmpty()) {
                String from = away.get(random.nextInt(away.size())).self().dc();
                List<SimLink> links =
                    simulation.network().links().stream().filter(l -> l.from.equals(from)).toList();
                simulation.network().flap(links.get(random.nextInt(links.size())));
                breakLater(random);
              }
            });
  }

  private void alterLater(Unit unit, List<String> anchors, Random random) {
    simulation
        .scheduler()
        .in(
            (1 + random.nextInt(ALTER_SECONDS_MAX * simulation.profile().pace())) * SECOND,
            () -> {
              if (simulation.isLoading()) {
                alter(unit, anchors, random);
                alterLater(unit, anchors, random);
              }
            });
  }

  /** Somebody tells any datacenter to add holders or to remove some; it may be refused. */
  private void alter(Unit unit, List<String> anchors, Random random) {
    SimDc at = simulation.dc(simulation.anyDc(random));
    if (!at.isUp()) {
      return;
    }
    String keyspace = unit.policy().name();
    List<String> wanted = new ArrayList<>(at.control().serving(unit.policy()));
    boolean follows = simulation.profile().follows(unit);
    List<String> keeping = simulation.holders().keeping();
    boolean adds = anchors.isEmpty() || random.nextBoolean();
    for (String name : simulation.names()) {
      boolean isWanted = wanted.contains(name);
      boolean mayCome = !follows || keeping.contains(name);
      boolean mayGo = follows || !name.equals(anchors.isEmpty() ? "" : anchors.getFirst());
      if (adds && mayCome && !isWanted && random.nextBoolean()) {
        wanted.add(name);
      } else if (!adds && isWanted && mayGo && random.nextBoolean()) {
        wanted.remove(name);
      }
    }
    SortedMap<String, String> settings = new TreeMap<>();
    settings.put("replicas", String.join(",", wanted.stream().sorted().toList()));
    try {
      simulation
          .holders()
          .laws()
          .alter(at, keyspace, wanted, () -> at.control().alter(keyspace, settings));
      simulation.trace().note("%s is told that %s hold %s", at.self(), wanted, keyspace);
    } catch (OsierException e) {
      simulation.trace().note("%s refuses that %s hold %s: %s", at.self(), wanted, keyspace, e);
    }
  }
}
