package io.osier.bench.experiment;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;

/** From which object size on which way of propagation pays. */
@Command(
    name = "size",
    mixinStandardHelpOptions = true,
    description = {
      "Measures four ways of propagation against the size of the objects, 100 B to 1 MB (thesis 3.1.3):",
      "half of the operations are updates of ten sets of elements of 50 bytes, zipfian 0.99, three",
      "datacenters, staleness bound 2 s."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:measured", "1:it could not be run", "2:wrong usage"})
public final class SizeCommand extends Experiment {
  private static final int ELEMENT_BYTES = 50;
  private static final int OBJECTS = 10;
  private static final Duration SLA = Duration.ofSeconds(2);

  /** For picocli. */
  public SizeCommand() {}

  @Override
  protected void measure(Results results) throws IOException, InterruptedException {
    List<Integer> sizes =
        quick() ? List.of(100, 10_000) : List.of(100, 1_000, 10_000, 100_000, 1_000_000);
    for (int size : sizes) {
      measure(results, size);
    }
    System.out.println();
    for (String metric : List.of(Meter.RATE, Meter.BYTES, Meter.CPU, Meter.P50, Meter.LATE)) {
      System.out.println(results.table(metric, "object size"));
    }
  }

  private void measure(Results results, int size) throws IOException, InterruptedException {
    String workload = String.format(Locale.ROOT, "%,d B", size);
    SetLoad.Shape shape = new SetLoad.Shape(OBJECTS, size / ELEMENT_BYTES, ELEMENT_BYTES, 50, 32);
    Map<String, String> names = Alternative.names();
    Turns.withCluster(
        workload,
        Alternative.keyspaces(SLA),
        "",
        shape,
        (cluster, load) -> {
          Turns turns = new Turns(cluster, load, results, rounds());
          turns.fill(names.values(), SLA.toMillis());
          turns.warmUp(names.values(), quick() ? 1 : 3, SLA.toMillis());
          turns.measure(workload, names, SLA.toMillis(), quick() ? 3 : 8);
        });
  }

  @Override
  protected void plot(Plots plots) throws IOException {
    String axis = "object size, bytes";
    plots.lines("size-throughput", "Throughput", axis, Meter.RATE, true);
    plots.lines("size-bytes", "Bytes on the links for each update", axis, Meter.BYTES, true);
    plots.lines("size-visible", "Median visibility delay", axis, Meter.P50, true);
  }
}
