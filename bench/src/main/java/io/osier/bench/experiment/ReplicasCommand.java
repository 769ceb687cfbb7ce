package io.osier.bench.experiment;

import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.KeyspaceCounts;
import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.cluster.Topology;
import io.osier.core.OsierException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** How the ways of propagation do with more and more datacenters: Chevrotain's section 4.4. */
@Command(
    name = "replicas",
    mixinStandardHelpOptions = true,
    description = {
      "Runs the command sequence of the Chevrotain paper (4.1, 4.4) on 3, 5, 7 and 10 datacenters: 210 keys",
      "with values 1000 to 1004, of which values and keys are removed until 157 keys are left, in",
      "LWW-element-sets; once, and again and again on the same keys for some seconds. Every datacenter is read",
      "until it shows what it must. Operations stand for the paper's CmRDT-O, full states for its CvRDT-GC. The staleness",
      "bound is 1 s. What is called 'simulated' are the same state machines in virtual time, without the cost",
      "of any CPU; the rest are processes with emulated links."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:measured",
      "1:it could not be run, or a run failed, or replicas differed",
      "2:wrong usage"
    })
public final class ReplicasCommand extends Experiment {
  private static final List<Integer> COUNTS = List.of(3, 5, 7, 10);
  private static final Duration SLA = Duration.ofSeconds(1);
  private static final Duration START_MAX = Duration.ofMinutes(2);

  private static final String RATE = "operations/s";
  private static final String P50 = "latency p50 ms";
  private static final String P99 = "latency p99 ms";
  private static final String EQUAL = "all equal after s";
  private static final String BYTES = "link bytes/operation";
  private static final String CPU = "cpu us/operation";
  private static final String VISIBLE_P50 = "visible p50 ms";
  private static final String VISIBLE_P99 = "visible p99 ms";
  private static final String LATE = "violations";

  private static final String ONCE = "one sequence";

  @Option(
      names = "--rate",
      defaultValue = "10000",
      description =
          "operations offered in a second, to all datacenters together (${DEFAULT-VALUE})")
  private int rate;

  @Option(
      names = "--processes",
      paramLabel = "N",
      description =
          "up to so many datacenters run as processes, and more only in the simulator (7; 5 if quick); 0 for"
              + " none")
  private Integer processes;

  @Spec private CommandSpec spec;

  /** What went wrong in single runs, which the others go on after. */
  private final List<OsierException> failed = new ArrayList<>();

  /** Larger in each run, so that its objects come after all others. */
  private int run;

  /** For picocli. */
  public ReplicasCommand() {}

  private String name(int count, boolean once) {
    String load = once ? ONCE : String.format(Locale.ROOT, "%,d/s", rate);
    return count + " DCs, " + load;
  }

  @Override
  protected void measure(Results results) throws IOException, InterruptedException {
    if (rate < 1 || rate > 1_000_000) {
      throw new ParameterException(
          spec.commandLine(), "--rate must be 1 to 1,000,000, not " + rate);
    }
    int most = processes != null ? processes : quick() ? 5 : 7;
    int operations = CommandSequence.plan(0, 1, rate).size();
    int times = Math.max(2, rate * (quick() ? 2 : 8) / operations);
    results.note("staleness bound", SLA.toMillis() + " ms");
    results.note("operations of one sequence", Integer.toString(operations));
    results.note("sequences one after another on the same keys", Integer.toString(times));
    results.note("most datacenters in processes", Integer.toString(most));
    results.note(
        "simulated", "virtual time, no CPU cost: not to be compared in time with processes");
    for (int count : COUNTS) {
      if (quick() && count == 7 && most < 7) {
        continue; // there is no time for it, and it lies between the others
      }
      if (count <= most) {
        inProcesses(results, count, times);
      }
      simulated(results, count, times);
      for (boolean once : List.of(true, false)) {
        System.out.println();
        System.out.println(results.table(name(count, once)));
      }
    }
    results.note("runs that failed", Integer.toString(failed.size()));
    if (!failed.isEmpty()) {
      OsierException first = failed.getFirst();
      throw new OsierException(
          first.code(), failed.size() + " runs failed, the first one: " + first.getMessage());
    }
  }

  @Override
  protected void plot(Plots plots) throws IOException {
    for (boolean once : List.of(true, false)) {
      String suffix = once ? "-once" : "-load";
      String load =
          once ? ": one sequence" : String.format(Locale.ROOT, ": %,d operations/s", rate);
      String axis = "datacenters";
      plots.lines(
          "replicas-equal" + suffix, "Until all are equal" + load, axis, EQUAL, false, is(once));
      plots.lines(
          "replicas-bytes" + suffix, "Bytes on the links" + load, axis, BYTES, false, is(once));
      plots.lines("replicas-latency" + suffix, "Latency" + load, axis, P99, false, is(once));
    }
  }

  private static Predicate<String> is(boolean once) {
    return workload -> workload.endsWith(ONCE) == once;
  }

  // ---------------------------------------------------------------- processes

  private void inProcesses(Results results, int count, int times)
      throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("osier-replicas");
    System.out.printf("%d datacenter processes: logs and data in %s%n", count, directory);
    try (LocalCluster cluster =
        new ClusterSettings(directory, Alternative.keyspaces(SLA))
            .dcs(Topology.names(count))
            .store("durability = none, cache = 64MiB")
            .heap("-Xmx256m")
            .start()) {
      cluster.awaitReady(START_MAX);
      try (SequenceLoad load = new SequenceLoad(cluster)) {
        System.out.println("warming up");
        for (int i = 0; i < (quick() ? 1 : 2); i++) {
          for (Alternative alternative : Alternative.ALL) {
            run(load, alternative.name(), Math.max(2, times / 2));
          }
        }
        for (int round = 0; round < (quick() ? 1 : 5); round++) {
          for (Alternative alternative : inTurn(round)) {
            for (boolean once : List.of(true, false)) {
              measure(results, cluster, load, alternative, name(count, once), once ? 1 : times);
            }
          }
        }
      }
    }
    Directories.delete(directory);
  }

  /** Each comes first, second, … in turn. */
  private static List<Alternative> inTurn(int round) {
    List<Alternative> turn = new ArrayList<>();
    for (int i = 0; i < Alternative.ALL.size(); i++) {
      turn.add(Alternative.ALL.get((i + round) % Alternative.ALL.size()));
    }
    return turn;
  }

  private void measure(
      Results results,
      LocalCluster cluster,
      SequenceLoad load,
      Alternative alternative,
      String workload,
      int times)
      throws InterruptedException {
    String keyspace = alternative.name();
    KeyspaceCounts before = KeyspaceCounts.of(cluster, keyspace);
    long bytesBefore = cluster.wanBytes();
    Duration cpuBefore = cluster.cpu();
    Optional<SequenceLoad.Outcome> ended = run(load, keyspace, times);
    if (ended.isEmpty()) {
      return;
    }
    SequenceLoad.Outcome outcome = ended.get();
    LockSupport.parkNanos(SequenceLoad.SETTLE_NANOS);
    double bytes = cluster.wanBytes() - bytesBefore;
    double micros = cluster.cpu().minus(cpuBefore).toNanos() / 1e3;
    KeyspaceCounts after = KeyspaceCounts.of(cluster, keyspace);
    results.add(workload, keyspace, RATE, outcome.operations() / outcome.seconds());
    Histogram latency = outcome.latencyMicros();
    results.add(workload, keyspace, P50, latency.getValueAtPercentile(50) / 1e3);
    results.add(workload, keyspace, P99, latency.getValueAtPercentile(99) / 1e3);
    results.add(workload, keyspace, CPU, micros / outcome.operations());
    add(
        results,
        workload,
        keyspace,
        outcome.equalSeconds(),
        bytes / outcome.operations(),
        after.visibilitySince(before),
        after.violations() - before.violations());
  }

  /** Empty if it failed, as on a machine that is too slow for so many processes. */
  private Optional<SequenceLoad.Outcome> run(SequenceLoad load, String keyspace, int times)
      throws InterruptedException {
    try {
      return Optional.of(load.run(keyspace, ++run, times, rate));
    } catch (OsierException e) {
      System.out.println("a run failed: " + e.getMessage());
      failed.add(e);
      return Optional.empty();
    }
  }

  private static void add(
      Results results,
      String workload,
      String alternative,
      double equalSeconds,
      double bytes,
      Histogram visible,
      long violations) {
    results.add(workload, alternative, EQUAL, equalSeconds);
    results.add(workload, alternative, BYTES, bytes);
    results.add(workload, alternative, VISIBLE_P50, visible.getValueAtPercentile(50) / 1e3);
    results.add(workload, alternative, VISIBLE_P99, visible.getValueAtPercentile(99) / 1e3);
    results.add(workload, alternative, LATE, (double) violations);
    System.out.printf(
        Locale.ROOT,
        "%-20s %-22s all equal after %6.3f s, %,6.0f bytes an operation%n",
        workload,
        alternative,
        equalSeconds,
        bytes);
  }

  // ---------------------------------------------------------------- simulator

  private void simulated(Results results, int count, int times) {
    for (Alternative alternative : Alternative.ALL) {
      for (boolean once : List.of(true, false)) {
        SimulatedSequence.Outcome outcome =
            SimulatedSequence.run(count, alternative, SLA, once ? 1 : times, rate, 1);
        add(
            results,
            name(count, once),
            alternative.name() + Plots.SIMULATED,
            outcome.equalSeconds(),
            outcome.bytes() / (double) outcome.operations(),
            outcome.visibilityMicros(),
            outcome.violations());
      }
    }
  }
}
