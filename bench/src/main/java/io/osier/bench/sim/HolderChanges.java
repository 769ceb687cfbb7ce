package io.osier.bench.sim;

import static io.osier.bench.sim.world.Scheduler.MILLI;
import static io.osier.bench.sim.world.Scheduler.SECOND;

import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Fault;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.RunProfile;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.SimLink;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * Breaks connections to holders now and then, so that others are asked, and adds some holders,
 * while all serve. Each hears of an addition, and of its end, at its own time.
 */
final class HolderChanges {
  private static final int BREAK_SECONDS_MAX = 8;
  private static final int HEARD_MILLIS_MAX = 3_000;

  /** So often one that was added looks whether it has all. */
  private static final long LOOK_NANOS = 300 * MILLI;

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
      List<String> others = new ArrayList<>(simulation.names());
      others.removeIf(unit.policy()::heldBy);
      if (unit.partition() == 0 && !others.isEmpty() && random.nextBoolean()) {
        String added = others.get(random.nextInt(others.size()));
        long later = random.nextLong(profile.seconds() * SECOND);
        simulation.scheduler().in(later, () -> add(unit.policy().name(), added, random));
      }
    }
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

  private void add(String keyspace, String added, Random random) {
    if (!simulation.isLoading()) {
      return;
    }
    simulation.trace().note("%s is added to the holders of %s", added, keyspace);
    SimHolders.Addition addition = new SimHolders.Addition(keyspace, added);
    simulation.holders().add(addition);
    tellAll(addition.heard, random);
    look(addition, random);
  }

  /** Each that is up hears of something, at its own time. */
  private void tellAll(Set<String> heard, Random random) {
    for (SimDc dc : simulation.dcs()) {
      simulation
          .scheduler()
          .in(
              random.nextInt(HEARD_MILLIS_MAX) * MILLI,
              () -> {
                if (dc.isUp() && heard.add(dc.self().dc())) {
                  dc.holdersChanged();
                }
              });
    }
  }

  private void look(SimHolders.Addition addition, Random random) {
    SimDc dc = simulation.dc(addition.dc);
    if (dc.isUp() && dc.isWhole(addition.keyspace)) {
      simulation.trace().note("%s holds %s from now on", dc.self(), addition.keyspace);
      addition.whole = true;
      tellAll(addition.heardWhole, random);
    } else {
      simulation.scheduler().in(LOOK_NANOS, () -> look(addition, random));
    }
  }
}
