package io.osier.bench.experiment;

import static java.util.Objects.requireNonNull;

import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.Durability;
import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.cluster.ThreadTimes;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What datacenters take of a processor while nobody asks them for anything. */
@Command(
    name = "idle",
    mixinStandardHelpOptions = true,
    description = {
      "Measures what each of three datacenter processes with emulated links takes of a processor"
          + " while no",
      "client is connected, in percent of a core: with one session keyspace of default settings and"
          + " nothing",
      "in it, and after 1,000 counters were written and all are equal; and what is on the links."
          + " --threads tells which of its threads",
      "take it, and how often each is put on a processor, as Linux counts both."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:measured", "1:it could not be run", "2:wrong usage"})
public final class IdleCommand extends Experiment {
  private static final String KEYSPACE = "shop";
  private static final String EMPTY = "nothing stored";
  private static final int COUNTERS = 1_000;
  private static final String FILLED = String.format(Locale.ROOT, "%,d counters", COUNTERS);
  private static final String SHARE = "% of a core";
  private static final String TURNS = "turns/s";
  private static final String LINKS = "all links";
  private static final String BYTES = "bytes/s";
  private static final Duration START_MAX = Duration.ofMinutes(1);
  private static final Duration EQUAL_MAX = Duration.ofMinutes(1);

  /** Threads that take less than this, in percent, are summed. */
  private static final double NAMED_MIN = 0.01;

  @Option(
      names = "--warm-up",
      paramLabel = "S",
      description = "seconds of idling before anything is measured; 20, with --quick 10")
  private @Nullable Double warmUp;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "of idling that is measured; 30, with --quick 10")
  private @Nullable Double seconds;

  @Option(
      names = "--durability",
      paramLabel = "HOW",
      description = "memory, or of a store: none, async, sync; ${DEFAULT-VALUE} unless given")
  private Durability durability = Durability.ASYNC;

  @Option(names = "--threads", description = "tell it of each thread of the first datacenter, too")
  private boolean threads;

  @Mixin private ServerOptions serverOptions = new ServerOptions();

  /** For picocli. */
  public IdleCommand() {}

  private double warmUp() {
    return warmUp != null ? warmUp : quick() ? 10 : 20;
  }

  private double seconds() {
    return seconds != null ? seconds : quick() ? 10 : 30;
  }

  @Override
  protected void measure(Results results) throws IOException, InterruptedException {
    if (!(seconds() > 0) || !(warmUp() >= 0)) {
      throw wrongUsage("--seconds must be more than 0, and --warm-up not less");
    }
    Path directory = Files.createTempDirectory("osier-idle");
    System.out.println("logs and data in " + directory);
    results.note("durability", durability.toString());
    try (LocalCluster cluster =
        new ClusterSettings(directory, "    " + KEYSPACE + " { sla = 2s }\n")
            .store(durability.setting())
            .javaOptions(serverOptions.list())
            .start()) {
      cluster.awaitReady(START_MAX);
      cluster.fleet().disconnect();
      idle(warmUp());
      rounds(results, EMPTY, cluster);
      fill(cluster);
      idle(warmUp());
      rounds(results, FILLED, cluster);
    }
    Directories.delete(directory);
  }

  private static void fill(LocalCluster cluster) {
    try (OsierClient client = cluster.client(cluster.dcs().getFirst())) {
      Keyspace keyspace = client.session().keyspace(KEYSPACE);
      IntStream.range(0, COUNTERS)
          .mapToObj(i -> keyspace.counter("k" + i).incrementAsync(1))
          .toList()
          .forEach(CompletableFuture::join);
    }
    if (!cluster.fleet().awaitEqual(EQUAL_MAX, System.out::println)) {
      throw new OsierException(ErrorCode.UNAVAILABLE, "the datacenters did not become equal");
    }
    cluster.fleet().disconnect();
  }

  private static void idle(double seconds) throws InterruptedException {
    Thread.sleep((long) (seconds * 1e3));
  }

  private void rounds(Results results, String workload, LocalCluster cluster)
      throws InterruptedException {
    for (int round = 0; round < rounds(1); round++) {
      round(results, workload, cluster);
    }
    System.out.println();
    System.out.println(results.table(workload));
    if (threads) {
      System.out.println(results.table(threadsOf(workload, cluster)));
    }
  }

  private static String threadsOf(String workload, LocalCluster cluster) {
    return cluster.dcs().getFirst() + "'s threads, " + workload;
  }

  private void round(Results results, String workload, LocalCluster cluster)
      throws InterruptedException {
    String first = cluster.dcs().getFirst();
    ThreadTimes threadsBefore = ThreadTimes.of(cluster.pid(first));
    Map<String, Duration> cpuBefore = new HashMap<>();
    long bytesBefore = cluster.wanBytes();
    long began = System.nanoTime();
    for (String dc : cluster.dcs()) {
      cpuBefore.put(dc, cpu(cluster, dc));
    }
    idle(seconds());
    double nanos = System.nanoTime() - began;
    for (String dc : cluster.dcs()) {
      double share =
          100 * cpu(cluster, dc).minus(requireNonNull(cpuBefore.get(dc))).toNanos() / nanos;
      results.add(workload, dc, SHARE, share);
      System.out.printf(Locale.ROOT, "%s, %s: %.2f %% of a core%n", workload, dc, share);
    }
    results.add(workload, LINKS, BYTES, (cluster.wanBytes() - bytesBefore) / (nanos / 1e9));
    if (threads) {
      addThreads(
          results,
          threadsOf(workload, cluster),
          ThreadTimes.of(cluster.pid(first)).since(threadsBefore),
          nanos);
    }
  }

  private static Duration cpu(LocalCluster cluster, String dc) {
    return ProcessHandle.of(cluster.pid(dc))
        .flatMap(process -> process.info().totalCpuDuration())
        .orElse(Duration.ZERO);
  }

  /** The busiest one first. */
  private static void addThreads(
      Results results, String workload, Map<String, ThreadTimes.Taken> taken, double nanos) {
    double rest = 0;
    double restTurns = 0;
    List<Map.Entry<String, ThreadTimes.Taken>> busiest =
        taken.entrySet().stream()
            .sorted((a, b) -> Long.compare(b.getValue().nanos(), a.getValue().nanos()))
            .toList();
    for (Map.Entry<String, ThreadTimes.Taken> e : busiest) {
      double share = 100 * e.getValue().nanos() / nanos;
      double turns = e.getValue().turns() / (nanos / 1e9);
      if (share < NAMED_MIN) {
        rest += share;
        restTurns += turns;
      } else {
        results.add(workload, e.getKey(), SHARE, share);
        results.add(workload, e.getKey(), TURNS, turns);
      }
    }
    results.add(workload, "all others", SHARE, rest);
    results.add(workload, "all others", TURNS, restTurns);
  }

  @Override
  protected void plot(Plots plots) throws IOException {
    plots.bars("idle", "Processor time of idle datacenters", SHARE, List.of(EMPTY, FILLED));
  }
}
