package io.osier.bench.sim;

import io.osier.core.ReplicaId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Draws faults from the seed and ends them again. */
final class FaultPlan {
  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;

  private final Simulation simulation;
  private final SimNetwork network;
  private final Random random;
  private final List<Fault> faults;
  private int active;
  private long calmSinceNanos;

  FaultPlan(Simulation simulation, SimNetwork network, Random random, List<Fault> faults) {
    this.simulation = simulation;
    this.network = network;
    this.random = random;
    this.faults = faults;
  }

  void start() {
    if (!faults.isEmpty()) {
      simulation.at((5 + random.nextInt(15)) * SECOND, this::next);
    }
  }

  /** How long nothing has been wrong. */
  long calmNanos() {
    return active > 0 ? 0 : simulation.nanos() - calmSinceNanos;
  }

  private void begin(String what, long durationNanos, Runnable end) {
    active++;
    simulation.trace("fault begins for %d ms: %s", durationNanos / MILLI, what);
    simulation.at(
        durationNanos,
        () -> {
          end.run();
          active--;
          calmSinceNanos = simulation.nanos();
          simulation.trace("fault ends: %s", what);
        });
  }

  private void next() {
    if (!simulation.isLoading()) {
      return;
    }
    simulation.at((3 + random.nextInt(40)) * SECOND, this::next);
    long duration = (500 + random.nextInt(20_000)) * MILLI;
    List<String[]> ends = new ArrayList<>(network.ends().values());
    String[] link = ends.get(random.nextInt(ends.size()));
    String dc = simulation.anyDc(random);
    switch (faults.get(random.nextInt(faults.size()))) {
      case LOSS -> {
        network.setLoss(link[0], link[1], 0.02 + random.nextDouble() * 0.3);
        begin(
            "loss " + link[0] + ">" + link[1],
            duration,
            () -> network.setLoss(link[0], link[1], 0));
      }
      case DUPLICATES -> {
        network.setDuplicates(link[0], link[1], 0.3);
        begin(
            "duplicates " + link[0] + ">" + link[1],
            duration,
            () -> network.setDuplicates(link[0], link[1], 0));
      }
      case REORDER -> {
        network.setReorder(link[0], link[1], true);
        begin(
            "reorder " + link[0] + ">" + link[1],
            duration,
            () -> network.setReorder(link[0], link[1], false));
      }
      case PARTITIONS -> partition(link, dc, duration);
      case CRASHES -> crash(dc, duration);
      case SLOW -> {
        simulation.dc(dc).slow((20 + random.nextInt(1_000)) * MILLI);
        begin("slow " + dc, duration, () -> simulation.dc(dc).slow(0));
      }
      case CLOCKS -> {
        simulation.dc(dc).jump((random.nextInt(7_200) - 3_600) * 1_000L);
        simulation.dc(dc).drift((random.nextDouble() - 0.5) * 0.02);
        begin("clock of " + dc, MILLI, () -> {});
      }
    }
  }

  private void partition(String[] link, String dc, long duration) {
    switch (random.nextInt(4)) {
      case 0 -> {
        network.cut(link[0], link[1]);
        begin("cut " + link[0] + ">" + link[1], duration, () -> network.heal(link[0], link[1]));
      }
      case 1 -> {
        network.cut(link[0], link[1]);
        network.cut(link[1], link[0]);
        begin(
            "cut " + link[0] + "-" + link[1],
            duration,
            () -> {
              network.heal(link[0], link[1]);
              network.heal(link[1], link[0]);
            });
      }
      case 2 -> {
        List<String[]> around =
            network.ends().values().stream()
                .filter(e -> e[0].equals(dc) || e[1].equals(dc))
                .toList();
        around.forEach(e -> network.cut(e[0], e[1]));
        begin("isolated " + dc, duration, () -> around.forEach(e -> network.heal(e[0], e[1])));
      }
      default -> {
        network.flap(link[0], link[1]);
        begin("flap " + link[0] + ">" + link[1], MILLI, () -> {});
      }
    }
  }

  private void crash(String name, long duration) {
    SimDc dc = simulation.dc(name);
    if (!dc.isUp() || simulation.downCount() > 0) {
      return; // one at a time: somebody must remember
    }
    ReplicaId former = dc.self();
    simulation.crash(dc);
    begin(
        "crash " + former,
        duration,
        () -> simulation.restart(dc, new ReplicaId(name, former.incarnation() + 1)));
  }
}
