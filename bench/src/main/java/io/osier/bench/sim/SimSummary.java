package io.osier.bench.sim;

import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.node.SimNode;
import io.osier.datacenter.partition.machine.PartitionReport;
import java.util.List;
import java.util.Locale;

/** The figures of a run, and the state of its partitions in words. */
final class SimSummary {
  private final Simulation simulation;
  private final List<Checks> checks;

  SimSummary(Simulation simulation) {
    this.simulation = simulation;
    this.checks = simulation.checks();
  }

  /** Updates made. */
  long updates() {
    return checks.stream().mapToLong(c -> c.once().updates()).sum();
  }

  /** How often an update's visibility at a datacenter was checked against its SLA. */
  long slaChecked() {
    return checks.stream().mapToLong(c -> c.sla().checked()).sum();
  }

  /** How many reads of accountable objects were checked. */
  long readsChecked() {
    return checks.stream().mapToLong(c -> c.sessions().reads()).sum();
  }

  /** How many snapshots of transactions were checked. */
  long snapshotsChecked() {
    return checks.stream().mapToLong(c -> c.transactions().snapshots()).sum();
  }

  /** How many updates that have a condition were checked. */
  long conditionsChecked() {
    return checks.stream().mapToLong(c -> c.conditions().done() + c.conditions().notDone()).sum();
  }

  /** How many reads copies have answered. */
  long copied() {
    return checks.stream().mapToLong(c -> c.copies().answered()).sum();
  }

  /** One line about what went on. */
  @Override
  public String toString() {
    long switches = 0;
    long gaps = 0;
    long healed = 0;
    long pulled = 0;
    long rounds = 0;
    long catchUps = 0;
    for (Checks of : checks) {
      for (PartitionReport r : of.reports().last().values()) {
        switches += r.modes().switched();
        gaps += r.arrived().gapsSeen();
        healed += r.arrived().healed();
        pulled += r.arrived().pulled();
        rounds += r.shipped().states();
        catchUps += r.shipped().catchUps();
      }
    }
    double seconds = simulation.scheduler().elapsedNanos() / 1e9;
    return String.format(
        Locale.ROOT,
        "%.0f s, %.1f operations/s, %d updates, %d reads, %d snapshots and %d visibilities checked"
            + " (%d fetched), %d conditions (%d held, %d won), %d programs (%d refused, seen %d"
            + " times), %d reads of copies, %d in rounds, %d caught up, %d gaps, %d healed, %d"
            + " pulled, %d mode switches, at rest after %.1f s, links busy for %.1f s, %d crashes,"
            + " %d in a write, %d waits for the disk, %d bytes under way at most, windows full %d"
            + " times, %d acknowledged in front, updates by clients %s, refused %s, faults %s,"
            + " features %s, hash %016x",
        seconds,
        simulation.operations() / seconds,
        updates(),
        readsChecked(),
        snapshotsChecked(),
        slaChecked(),
        checks.stream().mapToLong(c -> c.sla().excused()).sum(),
        conditionsChecked(),
        checks.stream().mapToLong(c -> c.conditions().done()).sum(),
        checks.stream().mapToLong(c -> c.conditions().won()).sum(),
        checks.stream().mapToLong(c -> c.programs().done()).sum(),
        checks.stream().mapToLong(c -> c.programs().refused()).sum(),
        checks.stream().mapToLong(c -> c.programs().views()).sum(),
        copied(),
        rounds,
        catchUps,
        gaps,
        healed,
        pulled,
        switches,
        simulation.settledNanos() / 1e9,
        simulation.network().backlogNanosMax() / 1e9,
        simulation.crashes(),
        simulation.dcs().stream().mapToLong(dc -> dc.disk().cutWrites()).sum(),
        simulation.dcs().stream().mapToLong(dc -> dc.disk().waits()).sum(),
        simulation.flow().mostBytes(),
        simulation.flow().full(),
        simulation.acknowledgedInFront(),
        simulation.callers().outcomes(),
        simulation.failures(),
        simulation.profile().faults(),
        simulation.profile().features(),
        simulation.trace().hash());
  }

  /** What every partition and its streams are doing, for the report of a failure. */
  String state() {
    StringBuilder text = new StringBuilder();
    for (SimDc dc : simulation.dcs()) {
      for (SimNode node : dc.nodes()) {
        if (dc.isUp()) {
          PartitionReport report = node.inspect();
          text.append(
              String.format(
                  Locale.ROOT,
                  "    %s committed %d, through %s%n",
                  node,
                  report.content().committed(),
                  report.content().through()));
          report.peers().forEach(p -> text.append("        ").append(p).append('\n'));
        }
      }
    }
    return text.toString();
  }
}
