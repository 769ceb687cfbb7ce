package io.osier.bench.client;

import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.Durability;
import io.osier.bench.cluster.KeyspaceCounts;
import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.cluster.ThreadTimes;
import io.osier.bench.cluster.Topology;
import io.osier.bench.experiment.Experiment;
import io.osier.bench.experiment.Plots;
import io.osier.bench.experiment.Results;
import io.osier.bench.experiment.ServerOptions;
import io.osier.bench.wan.WanQuality;
import io.osier.core.Value;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What an operation costs where every datacenter takes updates, and each update goes to all. */
@Command(
    name = "replicated",
    mixinStandardHelpOptions = true,
    description = {
      "Measures datacenter processes that all take updates of the same 1,000 objects (zipfian"
          + " 0.99), with",
      "a client at each that has calls in flight: increments and reads of counters, half of each,"
          + " and",
      "additions to sets of at most 100 elements of 10 bytes, which are then cleared. Says what the"
          + " servers",
      "take of the processors for an operation, what goes over the links for an update, and how"
          + " soon the",
      "other datacenters show it: under the load, and before it, when an update is made now and"
          + " then."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:measured", "1:it could not be run", "2:wrong usage"})
public final class ReplicatedCommand extends Experiment {
  private static final String KEYSPACE = "all";
  private static final int KEYS = 1_000;
  private static final int ELEMENTS = 100;
  private static final String RATE = "operations/s";
  private static final String CPU = "servers' µs/operation";
  private static final String CPU_WARM = "without compilers";

  /** Between two calls of a client that makes one now and then. */
  private static final long PAUSE_MILLIS = 50;

  @Option(
      names = "--datacenters",
      paramLabel = "N",
      description = "2 to 10 processes; ${DEFAULT-VALUE} unless given")
  private int datacenters = 3;

  @Option(
      names = "--durability",
      paramLabel = "HOW",
      description = "memory, or of a store: none, async, sync; ${DEFAULT-VALUE} unless given")
  private Durability durability = Durability.MEMORY;

  @Option(
      names = "--in-flight",
      paramLabel = "N",
      description = "calls under way at each datacenter; ${DEFAULT-VALUE} unless given")
  private int inFlight = 64;

  @Option(names = "--seconds", paramLabel = "S", description = "of each load; 15, with --quick 4")
  private @Nullable Double seconds;

  @Option(
      names = "--warm-up",
      paramLabel = "S",
      description = "seconds of load before anything is measured; 60, with --quick 8")
  private @Nullable Double warmUp;

  @Option(
      names = "--sla",
      paramLabel = "TIME",
      description = "how soon an update must be visible; ${DEFAULT-VALUE} unless given")
  private String sla = "2s";

  @Option(
      names = "--delay",
      paramLabel = "MS",
      description = "of each link, one way; ${DEFAULT-VALUE} unless given")
  private double delayMillis;

  @Mixin private ServerOptions serverOptions = new ServerOptions();

  /** For picocli. */
  public ReplicatedCommand() {}

  /** Calls of one kind, by their numbers. */
  private record Load(String name, Calls calls) {}

  /** Makes a call on a key. */
  private interface Calls {
    CompletionStage<?> make(Keyspace keyspace, int key, long number);
  }

  private double seconds() {
    return seconds != null ? seconds : quick() ? 4 : 15;
  }

  private double warmUp() {
    return warmUp != null ? warmUp : quick() ? 8 : 60;
  }

  private void check() {
    if (datacenters < 2 || datacenters > Topology.DCS_MAX) {
      throw wrongUsage("--datacenters must be 2 to " + Topology.DCS_MAX + ", not " + datacenters);
    }
    if (!(seconds() > 0) || !(warmUp() >= 0) || inFlight < 1 || !(delayMillis >= 0)) {
      throw wrongUsage(
          "--seconds and --in-flight must be more than 0, --warm-up and --delay not less");
    }
  }

  private List<Load> loads() {
    List<Value> elements = LongStream.range(0, ELEMENTS).mapToObj(SetInserts::element).toList();
    AtomicIntegerArray added = new AtomicIntegerArray(KEYS);
    return List.of(
        new Load(
            "counters, half of it reads",
            (keyspace, key, number) ->
                number % 2 == 0
                    ? keyspace.counter("c" + key).getAsync()
                    : keyspace.counter("c" + key).incrementAsync(1)),
        new Load(
            "additions to sets",
            (keyspace, key, number) -> {
              int n = added.getAndIncrement(key) % (ELEMENTS + 1);
              return n == ELEMENTS
                  ? keyspace.set("s" + key).clearAsync()
                  : keyspace.set("s" + key).addAsync(elements.subList(n, n + 1));
            }));
  }

  @Override
  protected void measure(Results results) throws IOException, InterruptedException {
    check();
    Path directory = Files.createTempDirectory("osier-replicated");
    System.out.println("logs and data in " + directory);
    results.note("durability", durability.toString());
    results.note("in flight at each", Integer.toString(inFlight));
    results.note("sla", sla);
    results.note("delay of a link, ms", Double.toString(delayMillis));
    try (LocalCluster cluster =
        new ClusterSettings(directory, "    %s { sla = %s }\n".formatted(KEYSPACE, sla))
            .dcs(Topology.names(datacenters))
            .links(new WanQuality(delayMillis, 0, 0))
            .store(durability.setting())
            .javaOptions(serverOptions.list())
            .start()) {
      cluster.awaitReady(Duration.ofSeconds(60));
      Map<String, OsierClient> clients = new LinkedHashMap<>();
      cluster.dcs().forEach(dc -> clients.put(dc, cluster.client(dc)));
      try {
        String workload = datacenters + " datacenters";
        List<Load> loads = loads();
        for (Load load : loads) { // as long as nothing is hot
          nowAndThen(results, workload, cluster, clients.values(), load);
        }
        System.out.println("warming up");
        for (Load load : loads) {
          drive(clients.values(), load, warmUp() / loads.size());
        }
        for (int round = 0; round < rounds(); round++) {
          for (Load load : loads) {
            round(results, workload, cluster, clients, load);
          }
        }
        System.out.println();
        System.out.println(results.table(workload));
      } finally {
        clients.values().forEach(OsierClient::close);
      }
    }
    Directories.delete(directory);
  }

  private void round(
      Results results,
      String workload,
      LocalCluster cluster,
      Map<String, OsierClient> clients,
      Load load)
      throws InterruptedException {
    settle();
    KeyspaceCounts before = KeyspaceCounts.of(cluster, KEYSPACE);
    Map<String, ThreadTimes> threads = new LinkedHashMap<>();
    cluster.dcs().forEach(dc -> threads.put(dc, ThreadTimes.of(cluster.pid(dc))));
    Duration cpu = cluster.cpu();
    long bytes = cluster.wanBytes();
    List<Driver.Outcome> outcomes = drive(clients.values(), load, seconds());
    double used = cluster.cpu().minus(cpu).toNanos() / 1e3;
    double compilers = 0;
    for (Map.Entry<String, ThreadTimes> dc : threads.entrySet()) {
      compilers += ThreadTimes.of(cluster.pid(dc.getKey())).compilersSince(dc.getValue()) / 1e3;
    }
    settle();
    KeyspaceCounts after = KeyspaceCounts.of(cluster, KEYSPACE);
    long updates = Math.max(1, after.updates() - before.updates());
    long calls = outcomes.stream().mapToLong(o -> o.nanos().getTotalCount()).sum();
    long failures = outcomes.stream().mapToLong(Driver.Outcome::failures).sum();
    double rate = outcomes.stream().mapToDouble(Driver.Outcome::perSecond).sum();
    Histogram latency = new Histogram(3);
    outcomes.forEach(o -> latency.add(o.nanos()));
    Histogram seen = after.visibilitySince(before);
    results.add(workload, load.name, RATE, rate);
    results.add(workload, load.name, CPU, used / Math.max(1, calls));
    results.add(workload, load.name, CPU_WARM, (used - compilers) / Math.max(1, calls));
    results.add(workload, load.name, "answer p50 us", latency.getValueAtPercentile(50) / 1e3);
    results.add(
        workload, load.name, "bytes/update", (cluster.wanBytes() - bytes) / (double) updates);
    results.add(workload, load.name, "visible ms p50", millis(seen, 50));
    results.add(workload, load.name, "visible ms p99", millis(seen, 99));
    results.add(
        workload, load.name, "violations", (double) (after.violations() - before.violations()));
    System.out.printf(
        Locale.ROOT,
        "%s: %,.0f/s, %.2f µs of the servers%s%n",
        load.name,
        rate,
        used / Math.max(1, calls),
        failures == 0 ? "" : ", " + failures + " calls failed");
  }

  private static double millis(Histogram micros, double percentile) {
    return micros.getValueAtPercentile(percentile) / 1e3;
  }

  /** What is held is shipped, and counted where it is seen. */
  private static void settle() throws InterruptedException {
    Thread.sleep(3_000);
  }

  // ---------------------------------------------------------------- loads

  private List<Driver.Outcome> drive(Iterable<OsierClient> clients, Load load, double howLong)
      throws InterruptedException {
    ConcurrentLinkedQueue<Driver.Outcome> outcomes = new ConcurrentLinkedQueue<>();
    List<Thread> drivers = new ArrayList<>();
    for (OsierClient client : clients) {
      Keyspace keyspace = client.session().keyspace(KEYSPACE);
      DrawnKeys keys = DrawnKeys.skewed(KEYS);
      AtomicLong next = new AtomicLong();
      Driver.Target target =
          done ->
              load.calls
                  .make(keyspace, keys.getAsInt(), next.getAndIncrement())
                  .whenComplete((result, error) -> done.done(error == null));
      drivers.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      outcomes.add(Driver.run(target, inFlight, 0, howLong));
                    } catch (InterruptedException e) {
                      Thread.currentThread().interrupt();
                    }
                  }));
    }
    for (Thread driver : drivers) {
      driver.join();
    }
    return List.copyOf(outcomes);
  }

  /**
   * A client at each makes a call now and then: how soon others show what has no load beside it.
   */
  private void nowAndThen(
      Results results,
      String workload,
      LocalCluster cluster,
      Iterable<OsierClient> clients,
      Load load)
      throws InterruptedException {
    KeyspaceCounts before = KeyspaceCounts.of(cluster, KEYSPACE);
    DrawnKeys keys = DrawnKeys.skewed(KEYS);
    List<Keyspace> keyspaces = new ArrayList<>();
    clients.forEach(client -> keyspaces.add(client.session().keyspace(KEYSPACE)));
    long until = System.nanoTime() + (long) (seconds() * 1e9);
    for (long turn = 0; System.nanoTime() < until; turn++) {
      for (Keyspace keyspace : keyspaces) {
        load.calls.make(keyspace, keys.getAsInt(), turn).toCompletableFuture().join();
      }
      Thread.sleep(PAUSE_MILLIS);
    }
    settle();
    Histogram seen = KeyspaceCounts.of(cluster, KEYSPACE).visibilitySince(before);
    results.add(workload, load.name, "without load p50", millis(seen, 50));
    results.add(workload, load.name, "without load p99", millis(seen, 99));
  }

  @Override
  protected void plot(Plots plots) throws IOException {
    plots.bars("replicated-rate", "Updates at all datacenters", RATE);
    plots.bars("replicated-cpu", "Processor time of all datacenters", CPU);
  }
}
