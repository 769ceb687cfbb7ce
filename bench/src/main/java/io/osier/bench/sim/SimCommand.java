package io.osier.bench.sim;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.osier.bench.sim.plan.Fault;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.plan.SimOptions;
import io.osier.bench.sim.transport.TransportSimulation;
import io.osier.bench.sim.world.Violation;
import io.osier.datacenter.control.ControlPlane;
import io.osier.datacenter.frontend.ClientServer;
import io.osier.propagation.net.PeerTransport;
import io.osier.proxy.Connection;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs simulations of many seeds. */
@Command(
    name = "sim",
    mixinStandardHelpOptions = true,
    description = {
      "Simulates datacenters, clients and faults in virtual time and checks convergence, "
          + "that every acknowledged update is there exactly once, per-object causal order, "
          + "the session guarantees, SLAs and what the partitions report. The same seed gives "
          + "the same run.",
      "",
      "  osier sim --dcs 3 --seeds 1..100",
      "  osier sim --dcs 5 --seeds 42 --faults partitions,crashes --trace trace.txt",
      "  osier sim --transport --seeds 1..1000",
      "",
      "The last line reads: N seeds, F failures, H simulated hours."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:no failures", "1:failures", "2:wrong usage"})
public final class SimCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(
      names = "--dcs",
      defaultValue = "3",
      paramLabel = "N",
      description = "datacenters, 2 to 10 (default: ${DEFAULT-VALUE})")
  private int dcs;

  @Option(
      names = "--seeds",
      defaultValue = "1..20",
      paramLabel = "A..B",
      description = "seeds and ranges of them, with commas between (default: ${DEFAULT-VALUE})")
  private String seeds;

  @Option(
      names = "--faults",
      defaultValue = "all",
      paramLabel = "LIST",
      description =
          "none, all, or some of"
              + " loss,duplicates,reorder,partitions,crashes,slow,hangs,disks,stalls,clocks,"
              + "answers,members,large (default: ${DEFAULT-VALUE}); each seed draws from them")
  private String faults;

  @Option(
      names = "--features",
      defaultValue = "drawn",
      paramLabel = "LIST",
      description =
          "what takes part in each seed, some of watchers,expiry,"
              + "decomposition,cold-reads,embedded,haste,later-types,programs,holders,placement,copies;"
              + " 'drawn' for what each seed draws of them (default: ${DEFAULT-VALUE})")
  private String features;

  @Option(
      names = "--minutes",
      defaultValue = "2",
      paramLabel = "M",
      description = "virtual minutes of load for each seed, 1 to 600 (default: ${DEFAULT-VALUE})")
  private int minutes;

  @Option(names = "--trace", paramLabel = "FILE", description = "write every event to a file")
  private File traceFile;

  @Option(
      names = "--transport",
      description =
          "simulate connections alone: bytes, half frames, full buffers and logins between"
              + " applications and datacenters, or between datacenters; only --seeds, --trace and"
              + " --verbose go with it")
  private boolean transport;

  @Option(names = "--verbose", description = "print a line for each seed")
  private boolean verbose;

  /** For picocli. */
  public SimCommand() {}

  @Override
  public Integer call() throws IOException {
    require(dcs >= 2 && dcs <= 10, "--dcs must be 2 to 10, not " + dcs);
    require(minutes >= 1 && minutes <= 600, "--minutes must be 1 to 600, not " + minutes);
    quiet();
    SeedRanges wanted = seeds();
    checkTogether();
    SimOptions options =
        new SimOptions(dcs, faults(), features(), minutes * 60, false, Sabotage.NONE);
    int failures = 0;
    long nanos = 0;
    long operations = 0;
    Map<Fault, Long> happened = new EnumMap<>(Fault.class);
    long before = processorNanos();
    long wallBefore = System.nanoTime();
    try (PrintStream trace =
        traceFile == null ? null : new PrintStream(traceFile, StandardCharsets.UTF_8)) {
      // A trace is one run after the other; otherwise every processor has its own.
      int threads = trace == null ? Runtime.getRuntime().availableProcessors() : 1;
      try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
        Queue<Future<Result>> results = new ArrayDeque<>();
        Iterator<Long> numbers = wanted.iterator();
        while (numbers.hasNext() || !results.isEmpty()) {
          if (numbers.hasNext()) {
            long number = numbers.next();
            results.add(
                pool.submit(() -> transport ? carry(number, trace) : run(options, number, trace)));
          }
          // In the order of the seeds; few at a time, so that their number is not bounded.
          if (!numbers.hasNext() || results.size() > 2 * threads) {
            Result result = get(results.remove());
            System.out.print(result.text);
            failures += result.failed ? 1 : 0;
            nanos += result.nanos;
            operations += result.operations;
            result.happened.forEach((fault, times) -> happened.merge(fault, times, Long::sum));
          }
        }
      }
    }
    System.out.printf(
        Locale.ROOT,
        "%d operations, %.1f a simulated second; faults: %s%n",
        operations,
        operations / (nanos / 1e9),
        happened.isEmpty()
            ? "none"
            : happened.entrySet().stream()
                .map(e -> e.getKey().label() + " " + e.getValue())
                .collect(Collectors.joining(", ")));
    System.out.printf(
        Locale.ROOT,
        "%.1f simulated hours a minute, %.1f a minute of one processor, which took %.1f s;"
            + " %.0f checked operations a second of it%n",
        nanos / 3.6e12 / ((System.nanoTime() - wallBefore) / 60e9),
        nanos / 3.6e12 / ((processorNanos() - before) / 60e9),
        (processorNanos() - before) / 1e9,
        operations / ((processorNanos() - before) / 1e9));
    System.out.printf(
        Locale.ROOT,
        "%d seeds, %d failures, %.2f simulated hours%n",
        wanted.count(),
        failures,
        nanos / 3.6e12);
    return failures == 0 ? 0 : 1;
  }

  /** Lets nobody say anything of connections and holders, which come and go all the time. */
  public static void quiet() {
    List<String> names = new ArrayList<>(List.of("io.osier.audit"));
    for (Class<?> of : List.of(PeerTransport.class, ClientServer.class, Connection.class)) {
      names.add(of.getPackageName());
    }
    for (String name : names) {
      quiet(name, Level.OFF);
    }
    quiet(ControlPlane.class.getPackageName(), Level.ERROR); // holders move all the time
  }

  private static void quiet(String name, Level level) {
    if (LoggerFactory.getLogger(name) instanceof Logger logger) {
      logger.setLevel(level);
    }
  }

  /** What the whole process has taken, the compiler and the collector with it. */
  private static long processorNanos() {
    return ManagementFactory.getOperatingSystemMXBean()
            instanceof com.sun.management.OperatingSystemMXBean system
        ? system.getProcessCpuTime()
        : 0;
  }

  private void require(boolean holds, String message) {
    if (!holds) {
      throw new ParameterException(spec.commandLine(), message);
    }
  }

  private SeedRanges seeds() {
    try {
      return SeedRanges.parse(seeds);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--seeds " + e.getMessage(), e);
    }
  }

  /** Refuses what would be left out without a word. */
  private void checkTogether() {
    require(
        faults.equals("all")
            || !faults().contains(Fault.MEMBERS)
            || !features().contains(Feature.HOLDERS),
        "--faults members does not go with --features holders: a keyspace's holders are not"
            + " replaced with their datacenters; leave one of them out");
    for (String option : List.of("--dcs", "--faults", "--features", "--minutes")) {
      require(
          !transport || !spec.commandLine().getParseResult().hasMatchedOption(option),
          option + " does not go with --transport, which simulates connections alone");
    }
  }

  private Set<Fault> faults() {
    try {
      return Fault.parse(faults);
    } catch (IllegalArgumentException e) {
      String names =
          Arrays.stream(Fault.values()).map(Fault::label).collect(Collectors.joining(","));
      throw new ParameterException(
          spec.commandLine(),
          "--faults must be none, all, or some of " + names + ": " + e.getMessage(),
          e);
    }
  }

  private Set<Feature> features() {
    try {
      return Feature.parse(features);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(
          spec.commandLine(),
          "--features must be drawn, or some of " + Feature.labels() + ": " + e.getMessage(),
          e);
    }
  }

  /** What is left of a seed's run. */
  private record Result(
      boolean failed, long nanos, long operations, Map<Fault, Long> happened, String text) {}

  private static Result get(Future<Result> future) {
    try {
      return future.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("a simulation cannot be made", e.getCause());
    }
  }

  private Result run(SimOptions options, long seed, PrintStream trace) {
    Simulation simulation =
        trace == null ? new Simulation(options, seed) : Simulation.traced(options, seed, trace);
    String text = "";
    boolean failed = false;
    try {
      SimRun.run(simulation);
      if (verbose) {
        text = "seed " + seed + ": " + new SimSummary(simulation) + "\n";
      }
    } catch (RuntimeException e) {
      failed = true;
      text = failure(simulation, seed, e) + explanation(options, seed);
    }
    return new Result(
        failed,
        simulation.scheduler().elapsedNanos(),
        simulation.operations(),
        simulation.happened(),
        text);
  }

  private Result carry(long seed, PrintStream trace) {
    TransportSimulation simulation =
        trace == null
            ? new TransportSimulation(seed, Sabotage.NONE)
            : TransportSimulation.traced(seed, Sabotage.NONE, trace);
    String text = "";
    boolean failed = false;
    try {
      simulation.run();
      text = verbose ? "seed " + seed + ": " + simulation + "\n" : "";
    } catch (RuntimeException e) {
      failed = true;
      text =
          String.format(
              Locale.ROOT,
              "seed %d FAILED at %.6f s: %s%n  repeat with: osier sim --transport --seeds %d%n",
              seed,
              simulation.scheduler().nanos() / 1e9,
              e instanceof Violation ? e.getMessage() : stack(e),
              seed);
    }
    return new Result(
        failed, simulation.scheduler().elapsedNanos(), simulation.carried(), Map.of(), text);
  }

  private static String stack(RuntimeException e) {
    StringWriter stack = new StringWriter();
    e.printStackTrace(new PrintWriter(stack));
    return stack.toString();
  }

  /** What happened before a failure: the seed is run again, and events are kept. */
  private static String explanation(SimOptions options, long seed) {
    Simulation again = Simulation.traced(options, seed, null);
    try {
      SimRun.run(again);
      return "  a second run of the seed did not fail\n";
    } catch (RuntimeException e) {
      String about = e instanceof Violation v ? v.about() : "";
      return String.format(
          Locale.ROOT,
          """
            the last events, and those about %s:
          %s  the partitions and their streams:
          %s%s\
          """,
          about,
          again.trace().last(about),
          new SimSummary(again).state(),
          e instanceof Violation ? "" : stack(e));
    }
  }

  private String failure(Simulation simulation, long seed, RuntimeException e) {
    return String.format(
        Locale.ROOT,
        """
        seed %d FAILED at %.6f s: %s
          with %s and the faults %s
          repeat with: osier sim --dcs %d --seeds %d --faults %s --features %s --minutes %d
        """,
        seed,
        simulation.scheduler().nanos() / 1e9,
        e instanceof Violation ? e.getMessage() : e.toString(),
        simulation.profile().features(),
        simulation.profile().faults(),
        dcs,
        seed,
        faults,
        features,
        minutes);
  }
}
