package io.osier.bench.sim;

import static io.osier.bench.sim.world.Scheduler.SECOND;

import io.osier.bench.sim.node.SimDc;
import java.util.Random;

/** Takes a simulation to its end: load and faults, then rest, then the last checks. */
final class SimRun {
  private static final long REPORT_NANOS = 7 * SECOND;

  private final Simulation simulation;
  private final FaultPlan plan;

  private SimRun(Simulation simulation) {
    this.simulation = simulation;
    this.plan =
        new FaultPlan(
            simulation, new Random(simulation.faultSeed()), simulation.profile().faults());
  }

  /** Runs one that has not begun. Throws a Violation. */
  static void run(Simulation simulation) {
    new SimRun(simulation).run();
  }

  private void run() {
    simulation.begin();
    plan.start();
    new HolderChanges(simulation).start();
    new LawChanges(simulation).start();
    simulation.scheduler().in(REPORT_NANOS, this::report);
    simulation.scheduler().runFor(simulation.profile().seconds() * SECOND);
    simulation.endLoad();
    plan.endAll();
    simulation.trace().note("the load ends, and all faults");
    simulation.end(new SimEnd(simulation).restAndCheck());
  }

  /** Checks what every partition reports, now and then. */
  private void report() {
    for (SimDc dc : simulation.dcs()) {
      if (dc.isUp()) {
        simulation.report(dc);
      }
    }
    if (simulation.isLoading()) {
      simulation.scheduler().in(REPORT_NANOS, this::report);
    }
  }
}
