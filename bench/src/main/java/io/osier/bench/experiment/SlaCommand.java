package io.osier.bench.experiment;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What a larger staleness bound brings. */
@Command(
    name = "sla",
    mixinStandardHelpOptions = true,
    description = {
      "Measures four ways of propagation against the staleness bound, 0 to 15 s (thesis 3.1.4): half of",
      "the operations are updates of sets of 12 KB, 200 objects, zipfian 0.99, three datacenters."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:measured", "1:it could not be run", "2:wrong usage"})
public final class SlaCommand extends Experiment {
  private static final int ELEMENT_BYTES = 512;
  private static final int OBJECT_BYTES = 12_000;

  @Option(
      names = "--bounds",
      split = ",",
      paramLabel = "MILLISECONDS",
      description = "the staleness bounds; by default seven from 0 to 15000, with --quick two")
  private List<Integer> bounds;

  /** For picocli. */
  public SlaCommand() {}

  @Override
  protected void measure(Results results) throws IOException, InterruptedException {
    if (bounds == null) {
      bounds = quick() ? List.of(0, 2_000) : List.of(0, 200, 1_000, 2_000, 5_000, 10_000, 15_000);
    }
    StringBuilder keyspaces = new StringBuilder();
    List<String> all = new ArrayList<>();
    for (int bound : bounds) {
      for (Alternative way : Alternative.ALL) {
        all.add(keyspace(way, bound));
        keyspaces.append(way.keyspace(keyspace(way, bound), Duration.ofMillis(bound)));
      }
    }
    SetLoad.Shape shape =
        new SetLoad.Shape(200, OBJECT_BYTES / ELEMENT_BYTES, ELEMENT_BYTES, 50, 32);
    Turns.withCluster(
        "the staleness bound",
        keyspaces.toString(),
        "",
        shape,
        (cluster, load) -> {
          Turns turns = new Turns(cluster, load, results, rounds());
          turns.fill(all, 0);
          turns.warmUp(all, quick() ? 0.5 : 2, Collections.max(bounds) + 1_500L);
          for (int bound : bounds) {
            Map<String, String> names = new LinkedHashMap<>();
            Alternative.ALL.forEach(way -> names.put(way.name(), keyspace(way, bound)));
            turns.measure(workload(bound), names, bound, quick() ? 4 : 6);
          }
        });
    System.out.println();
    for (String metric : List.of(Meter.RATE, Meter.BYTES, Meter.CPU, Meter.P50, Meter.LATE)) {
      System.out.println(results.table(metric, "staleness bound"));
    }
  }

  private static String keyspace(Alternative way, int boundMillis) {
    return way.name() + "-" + boundMillis;
  }

  private static String workload(int boundMillis) {
    return String.format(Locale.ROOT, "%.1f s", boundMillis / 1e3);
  }

  @Override
  protected void plot(Plots plots) throws IOException {
    String axis = "staleness bound, s";
    plots.lines("sla-throughput", "Throughput", axis, Meter.RATE, false);
    plots.lines("sla-bytes", "Bytes on the links for each update", axis, Meter.BYTES, false);
    plots.lines("sla-cpu", "CPU time for each operation", axis, Meter.CPU, false);
  }
}
