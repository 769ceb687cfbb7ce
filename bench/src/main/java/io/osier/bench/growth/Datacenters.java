package io.osier.bench.growth;

import io.osier.bench.experiment.Alternative;
import io.osier.bench.experiment.Plots;
import io.osier.bench.experiment.Results;
import io.osier.bench.experiment.SimulatedSequence;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/** More and more datacenters in virtual time, with as many operations a second for all together. */
final class Datacenters implements Part {
  private static final List<Integer> QUICK = List.of(2, 3, 5);
  private static final String AXIS = "datacenters";
  private static final List<Integer> COUNTS = IntStream.rangeClosed(2, 10).boxed().toList();
  private static final Duration SLA = Duration.ofSeconds(1);
  private static final int PER_SECOND = 10_000;
  private static final String BYTES = "link bytes/operation";
  private static final String EQUAL = "all equal after virtual s";
  private static final String REAL_CPU = "µs/operation, all simulated";

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

  @Override
  public String noun() {
    return "datacenter";
  }

  @Override
  public void measure(Results results, Scale scale, Path directory) {
    int times = scale.quick() ? 13 : 26; // two seconds, and four
    results.note("sequences one after another", Integer.toString(times));
    results.note("operations a second, virtual", Integer.toString(PER_SECOND));
    Alternative.ALL.forEach(a -> SimulatedSequence.run(3, a, SLA, times, PER_SECOND, 0));
    for (int count : scale.quick() ? QUICK : COUNTS) {
      for (int round = 1; round <= scale.rounds(); round++) {
        for (Alternative alternative : Alternative.ALL) {
          measure(results, count, alternative, times, round);
        }
      }
    }
  }

  private void measure(Results results, int count, Alternative alternative, int times, int seed) {
    long before = threads.getCurrentThreadCpuTime();
    SimulatedSequence.Outcome outcome =
        SimulatedSequence.run(count, alternative, SLA, times, PER_SECOND, seed);
    double micros = (threads.getCurrentThreadCpuTime() - before) / 1e3 / outcome.operations();
    double bytes = outcome.bytes() / (double) outcome.operations();
    String workload = workload(count);
    results.add(workload, alternative.name(), BYTES, bytes);
    results.add(workload, alternative.name(), EQUAL, outcome.equalSeconds());
    results.add(workload, alternative.name(), REAL_CPU, micros);
    System.out.printf(
        Locale.ROOT,
        "%s, %s: %,.0f bytes and %.1f µs an operation, all equal after %.3f s%n",
        workload,
        alternative.name(),
        bytes,
        micros,
        outcome.equalSeconds());
  }

  @Override
  public void plot(Plots plots) throws IOException {
    plots.lines("growth-dcs-bytes", "Bytes on the links", AXIS, BYTES, false, this::owns);
    plots.lines("growth-dcs-equal", "Until all are equal", AXIS, EQUAL, false, this::owns);
    plots.lines("growth-dcs-cpu", "Processor time", AXIS, REAL_CPU, false, this::owns);
  }
}
