package io.osier.bench.sim;

import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.plan.SimOptions;
import io.osier.bench.sim.plan.Unit;
import io.osier.datacenter.partition.machine.PartitionReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.HdrHistogram.Histogram;

/** Runs the same load on a causal and on a session keyspace in virtual time, without faults. */
public final class SimComparison {
  private SimComparison() {}

  /**
   * What came of one of them.
   *
   * @param updates how many updates were made
   * @param bytes of all frames between datacenters
   * @param visibilityMicros from the commit of each shipment's oldest update until it was visible
   */
  public record Side(
      String keyspace, long updates, long bytes, long slaViolations, Histogram visibilityMicros) {}

  /**
   * Compares.
   *
   * @param dcs how many datacenters, 2 to 10
   * @param seconds virtual seconds of load
   */
  public static List<Side> run(int dcs, int seconds, long seed) {
    Simulation simulation =
        new Simulation(new SimOptions(dcs, Set.of(), seconds, true, Sabotage.NONE), seed);
    SimRun.run(simulation);
    List<Side> sides = new ArrayList<>();
    for (Unit unit : simulation.units()) {
      long updates = 0;
      long violations = 0;
      Histogram visibility = new Histogram(3_600_000_000L, 2);
      for (SimDc dc : simulation.dcs()) {
        PartitionReport report = dc.node(unit).inspect();
        updates += report.content().committed();
        violations += report.slaViolations();
        visibility.add(report.arrived().visibilityMicros());
      }
      sides.add(
          new Side(
              unit.policy().name(),
              updates,
              simulation.frames().bytes(unit),
              violations,
              visibility));
    }
    return sides;
  }
}
