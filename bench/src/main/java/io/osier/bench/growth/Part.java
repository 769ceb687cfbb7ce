package io.osier.bench.growth;

import io.osier.bench.experiment.Plots;
import io.osier.bench.experiment.Results;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;

/** One part of the measurements. Its workloads are named by what grows: a number and a noun. */
interface Part {
  String RATE = "updates/s";
  String CPU = "server's µs/update";
  int IN_FLIGHT = 256;

  /**
   * How much is measured.
   *
   * @param quick whether a look is enough
   * @param rounds how often each is measured
   * @param warmUp seconds of load before each is measured
   * @param seconds of each load that is measured
   */
  record Scale(boolean quick, int rounds, double warmUp, double seconds) {}

  /**
   * Measures.
   *
   * @param directory for logs and data
   */
  void measure(Results results, Scale scale, Path directory)
      throws IOException, InterruptedException;

  /** What there are more and more of: one of them. */
  String noun();

  /** Draws what was measured. */
  void plot(Plots plots) throws IOException;

  /** The workload with so many. */
  default String workload(int count) {
    return String.format(Locale.ROOT, "%,d %s", count, count == 1 ? noun() : noun() + "s");
  }

  /** Whether a workload is one of this part. */
  default boolean owns(String workload) {
    return workload.endsWith(" " + noun()) || workload.endsWith(" " + noun() + "s");
  }
}
