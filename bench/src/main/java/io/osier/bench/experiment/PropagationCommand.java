package io.osier.bench.experiment;

import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.LocalCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;

/** Operations, states and adaptive propagation under the thesis's four workloads. */
@Command(
    name = "propagation",
    mixinStandardHelpOptions = true,
    description = {
      "Compares four ways of propagation under the four workloads of the thesis (4.2, 4.3): 5 %% and 50 %%",
      "updates of sets of 12 KB and of 30 KB, 1000 objects, zipfian 0.99, three datacenters. The staleness",
      "bound is 2 s here instead of 10 s. The alternatives take turns in one run; each has a keyspace of",
      "its own at the same datacenter processes."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:measured", "1:it could not be run", "2:wrong usage"})
public final class PropagationCommand extends Experiment {
  private static final int ELEMENT_BYTES = 512;
  private static final List<String> ALTERNATIVES =
      List.of("op", "state-full", "state-delta", "adaptive");

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
    Path directory = Files.createTempDirectory("osier-propagation");
    System.out.println(workload.name + ": logs and data in " + directory);
    SetLoad.Shape shape =
        new SetLoad.Shape(
            1_000, workload.objectBytes / ELEMENT_BYTES, ELEMENT_BYTES, workload.updatePercent, 32);
    try (LocalCluster cluster =
        new LocalCluster(
            directory,
            directory.resolve("data"),
            "durability = none, cache = 600MiB",
            """
                op { sla = 2s, partitions = 1, propagation = op }
                state-full { sla = 2s, partitions = 1, propagation = state, payload = full }
                state-delta { sla = 2s, partitions = 1, propagation = state }
                adaptive { sla = 2s, partitions = 1 }
            """,
            "-Xmx1g",
            1)) {
      cluster.awaitReady(Duration.ofSeconds(60));
      try (SetLoad load = new SetLoad(cluster, shape)) {
        ALTERNATIVES.forEach(load::fill);
        LockSupport.parkNanos(6_000_000_000L);
        System.out.println("warming up");
        for (String alternative : ALTERNATIVES) {
          load.run(alternative, quick() ? 3 : 6, 0);
          LockSupport.parkNanos(3_000_000_000L);
        }
        for (int round = 1; round <= (quick() ? 1 : 3); round++) {
          for (int i = 0; i < ALTERNATIVES.size(); i++) {
            // Each comes first, second, … in turn.
            String alternative = ALTERNATIVES.get((i + round) % ALTERNATIVES.size());
            Meter meter = new Meter(cluster, alternative);
            SetLoad.Outcome outcome = load.run(alternative, quick() ? 5 : 10, round);
            meter.add(results, workload.name, alternative, outcome, 3_500);
          }
        }
      }
    }
    Directories.delete(directory);
  }
}
