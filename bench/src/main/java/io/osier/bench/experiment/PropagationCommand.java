package io.osier.bench.experiment;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** Operations, states and adaptive propagation under the thesis's four workloads. */
@Command(
    name = "propagation",
    mixinStandardHelpOptions = true,
    description = {
      "Compares four ways of propagation under the four workloads of the thesis (4.2, 4.3): 5 %% and 50 %%",
      "updates of sets of 12 KB and of 30 KB, 1000 objects, zipfian 0.99, three datacenters, staleness bound",
      "5 s, the thesis had 10 s (with --quick: one workload, 2 s). The alternatives take turns in one run; each has a keyspace",
      "of its own at the same datacenter processes."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:measured", "1:it could not be run", "2:wrong usage"})
public final class PropagationCommand extends Experiment {
  private static final int ELEMENT_BYTES = 512;

  private record Workload(String name, int updatePercent, int objectBytes) {}

  private static final List<Workload> WORKLOADS =
      List.of(
          new Workload("5 % updates, 12 KB", 5, 12_000),
          new Workload("50 % updates, 12 KB", 50, 12_000),
          new Workload("5 % updates, 30 KB", 5, 30_000),
          new Workload("50 % updates, 30 KB", 50, 30_000));

  /** For picocli. */
  public PropagationCommand() {}

  @Override
  protected void measure(Results results) throws IOException, InterruptedException {
    for (Workload workload : quick() ? WORKLOADS.subList(1, 2) : WORKLOADS) {
      measure(results, workload);
      System.out.println();
      System.out.println(results.table(workload.name));
    }
  }

  @Override
  protected void plot(Plots plots) throws IOException {
    plots.bars("propagation-throughput", "Throughput of the ways of propagation", Meter.RATE);
    plots.bars("propagation-bytes", "Bytes on the links for each update", Meter.BYTES);
    plots.bars("propagation-cpu", "CPU time of all datacenters for each operation", Meter.CPU);
  }

  private void measure(Results results, Workload workload)
      throws IOException, InterruptedException {
    SetLoad.Shape shape =
        new SetLoad.Shape(
            1_000, workload.objectBytes / ELEMENT_BYTES, ELEMENT_BYTES, workload.updatePercent, 32);
    Duration sla = Duration.ofSeconds(quick() ? 2 : 5);
    Map<String, String> names = Alternative.names();
    Turns.withCluster(
        workload.name,
        Alternative.keyspaces(sla),
        "",
        shape,
        (cluster, load) -> {
          Turns turns = new Turns(cluster, load, results, rounds());
          turns.fill(names.values(), sla.toMillis() + 500);
          turns.warmUp(names.values(), 3, sla.toMillis() + 500);
          turns.measure(workload.name, names, sla.toMillis(), quick() ? 6 : 13);
        });
  }
}
