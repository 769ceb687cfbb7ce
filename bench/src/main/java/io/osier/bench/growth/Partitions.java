package io.osier.bench.growth;

import io.osier.bench.experiment.Plots;
import io.osier.bench.experiment.Results;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** More and more partitions of as many counters, each number in a process, all in turn. */
final class Partitions implements Part {
  private static final String AXIS = "partitions";
  private static final List<Integer> COUNTS = List.of(1, 2, 4, 8);
  private static final String HEAP = "-Xmx512m";
  private static final String CACHE = "128MiB";

  @Override
  public String noun() {
    return "partition";
  }

  @Override
  public void measure(Results results, Scale scale, Path directory)
      throws IOException, InterruptedException {
    int size = scale.quick() ? 10_000 : 100_000;
    results.note("counters of the partitions", Integer.toString(size));
    Map<Integer, Counters> all = new LinkedHashMap<>();
    try {
      for (int count : COUNTS) {
        Path own = Files.createDirectories(directory.resolve("partitions-" + count));
        Counters counters =
            Counters.start(own, CACHE, "sla = 2s, partitions = " + count, HEAP, size);
        all.put(count, counters);
        counters.fill();
        counters.run(scale.warmUp());
      }
      for (int round = 0; round < scale.rounds(); round++) {
        for (Map.Entry<Integer, Counters> e : all.entrySet()) {
          e.getValue().measure(results, workload(e.getKey()), "all in memory", scale.seconds());
        }
      }
    } finally {
      all.values().forEach(Counters::close);
    }
  }

  @Override
  public void plot(Plots plots) throws IOException {
    plots.lines("growth-partitions-rate", "Updates a second", AXIS, RATE, false, this::owns);
    plots.lines(
        "growth-partitions-cpu", "Processor time of an update", AXIS, CPU, false, this::owns);
  }
}
