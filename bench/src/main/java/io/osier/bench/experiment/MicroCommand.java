package io.osier.bench.experiment;

import io.osier.bench.jmh.CrdtBenchmark;
import io.osier.bench.jmh.DivergenceBenchmark;
import io.osier.bench.jmh.SpaceSavingBenchmark;
import io.osier.bench.jmh.VersionVectorBenchmark;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import picocli.CommandLine.Command;

/** The micro-benchmarks in one run, with their results in the common form. */
@Command(
    name = "micro",
    mixinStandardHelpOptions = true,
    description = {
      "Runs the JMH benchmarks of the data types, of two sets that differ by 400 operations (thesis,",
      "figure 3.3), of the summary of hot objects and of version vectors, each in a JVM of its own.",
      "osier jmh NAME runs one with all of JMH's options."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:measured", "1:it could not be run", "2:wrong usage"})
public final class MicroCommand extends Experiment {
  private static final String TIME = "ns";
  private static final String ERROR = "error ns (99.9 %)";
  private static final int FORKS = 3;

  /**
   * One benchmark.
   *
   * @param quick which parameters a quick run takes; all others take them all
   */
  private record Part(Class<?> type, List<String> methods, Map<String, String[]> quick) {}

  private static final List<Part> PARTS =
      List.of(
          new Part(
              DivergenceBenchmark.class,
              List.of("operations", "delta", "state", "joinDeltas"),
              Map.of()),
          new Part(
              CrdtBenchmark.class,
              List.of("update", "joinDelta", "joinState", "encode", "decode"),
              Map.of(
                  "type",
                  new String[] {"PN_COUNTER", "LWW_REGISTER", "AW_SET"},
                  "size",
                  new String[] {"100"})),
          new Part(
              SpaceSavingBenchmark.class,
              List.of("offer"),
              Map.of("capacity", new String[] {"1000"})),
          new Part(
              VersionVectorBenchmark.class,
              List.of("compare", "join", "joinCovered", "raise"),
              Map.of("entries", new String[] {"3"})));

  /** For picocli. */
  public MicroCommand() {}

  @Override
  protected void measure(Results results) throws IOException {
    try {
      for (Part part : PARTS) {
        for (String method : part.methods) {
          for (RunResult run : run(part, method)) {
            add(results, run);
          }
        }
      }
    } catch (RunnerException e) {
      throw new IOException("a benchmark could not be run: " + e.getMessage(), e);
    }
    System.out.println();
    System.out.println(results.table(TIME, "benchmark"));
  }

  private Collection<RunResult> run(Part part, String method) throws RunnerException {
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .include(part.type.getName() + "\\." + method + "$")
            .verbosity(VerboseMode.SILENT)
            .timeUnit(java.util.concurrent.TimeUnit.NANOSECONDS)
            .jvmArgsAppend("-XX:+UseSerialGC", "-Xmx1g");
    if (quick()) {
      options
          .forks(1)
          .warmupIterations(2)
          .warmupTime(TimeValue.milliseconds(200))
          .measurementIterations(2)
          .measurementTime(TimeValue.milliseconds(200));
      part.quick.forEach(options::param);
    } else if (part.type == DivergenceBenchmark.class) {
      options.forks(FORKS);
    }
    return new Runner(options.build()).run();
  }

  /** A line for each benchmark with its parameters but the size, a column for each size. */
  private static void add(Results results, RunResult run) {
    Map<String, String> parameters = new TreeMap<>();
    for (String key : run.getParams().getParamsKeys()) {
      parameters.put(key, run.getParams().getParam(key));
    }
    String[] names = run.getParams().getBenchmark().split("\\.");
    List<String> words = new ArrayList<>();
    words.add(names[names.length - 2].replace("Benchmark", ""));
    String kind = parameters.remove("type");
    if (kind != null) {
      words.add(kind.toLowerCase(Locale.ROOT).replace('_', ' '));
    }
    words.add(names[names.length - 1]);
    String size = parameters.isEmpty() ? "" : parameters.values().iterator().next();
    String workload = String.join(" ", words);
    Result<?> primary = run.getPrimaryResult();
    results.add(workload, size, TIME, primary.getScore());
    if (!Double.isNaN(primary.getScoreError())) {
      results.add(workload, size, ERROR, primary.getScoreError());
    }
    System.out.printf(Locale.ROOT, "%-40s %6s %,14.1f ns%n", workload, size, primary.getScore());
  }

  @Override
  protected void plot(Plots plots) throws IOException {
    plots.bars(
        "micro-divergence",
        "Catching up with 400 operations, by the size of the set",
        TIME,
        workload -> workload.startsWith("Divergence"));
  }
}
