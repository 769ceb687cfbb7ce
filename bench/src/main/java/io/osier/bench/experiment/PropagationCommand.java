package io.osier.bench.experiment;

import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.KeyspaceCounts;
import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.cluster.Zipf;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Operations, states and adaptive propagation under the thesis's four workloads. */
@Command(
    name = "propagation",
    mixinStandardHelpOptions = true,
    description = {
      "Compares four ways of propagation under the four workloads of the thesis (4.2, 4.3): 5 % and 50 %",
      "updates of sets of 12 KB and of 30 KB, 1000 objects, zipfian 0.99, three datacenters. The staleness",
      "bound is 2 s here instead of 10 s. The alternatives take turns in one run; each has a keyspace of",
      "its own at the same datacenter processes."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:measured", "1:it could not be run", "2:wrong usage"})
public final class PropagationCommand implements Callable<Integer> {
  private static final int OBJECTS = 1_000;
  private static final int ELEMENT_BYTES = 500;
  private static final int IN_FLIGHT = 32;
  private static final String RATE = "operations/s";
  private static final String BYTES = "link bytes/update";
  private static final String CPU = "cpu us/operation";
  private static final String MU = "coordination ms";
  private static final String P50 = "visible p50 ms";
  private static final String P99 = "p99 ms";
  private static final String P9999 = "p99.99 ms";
  private static final String MAX = "max ms";
  private static final String LATE = "violations";
  private static final List<String> ALTERNATIVES =
      List.of("op", "state-full", "state-delta", "adaptive");

  private record Workload(String name, int updatePercent, int objectBytes) {}

  private static final List<Workload> WORKLOADS =
      List.of(
          new Workload("5 % updates, 12 KB", 5, 12_000),
          new Workload("50 % updates, 12 KB", 50, 12_000),
          new Workload("5 % updates, 30 KB", 5, 30_000),
          new Workload("50 % updates, 30 KB", 50, 30_000));

  @Option(names = "--quick", description = "one workload, short: under two minutes")
  private boolean quick;

  @Option(names = "--json", paramLabel = "FILE", description = "write the results as JSON")
  private Path jsonFile;

  private final Comparison comparison =
      new Comparison("propagation", List.of(RATE, BYTES, CPU, MU, P50, P99, P9999, MAX, LATE));

  /** For picocli. */
  public PropagationCommand() {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    try {
      for (Workload workload : quick ? WORKLOADS.subList(1, 2) : WORKLOADS) {
        measure(workload);
        System.out.println();
        System.out.println(comparison.table(workload.name));
      }
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.getMessage());
      return 1;
    }
    if (jsonFile != null) {
      List<String> command = new ArrayList<>(List.of("./osier", "bench", "propagation"));
      command.addAll(quick ? List.of("--quick") : List.of());
      comparison.writeJson(jsonFile, command);
    }
    return 0;
  }

  private void measure(Workload workload) throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("osier-propagation");
    System.out.println(workload.name + ": logs and data in " + directory);
    try (LocalCluster cluster =
        new LocalCluster(
            directory,
            directory.resolve("data"),
            "durability = none, cache = 600MiB",
            """
                op { sla = 2s, partitions = 1, propagation = op }
                state-full { sla = 2s, partitions = 1, propagation = state, payload = full }
                state-delta { sla = 2s, partitions = 1, propagation = state }
                adaptive { sla = 2s, partitions = 1 }
            """,
            "-Xmx1g",
            1)) {
      cluster.awaitReady(Duration.ofSeconds(60));
      List<OsierClient> clients = new ArrayList<>();
      try {
        for (String dc : LocalCluster.DCS) {
          clients.add(cluster.client(dc));
        }
        for (String alternative : ALTERNATIVES) {
          fill(clients.getFirst(), alternative, workload);
        }
        LockSupport.parkNanos(6_000_000_000L);
        System.out.println("warming up");
        for (String alternative : ALTERNATIVES) {
          run(clients, alternative, workload, quick ? 3 : 6, 0);
          LockSupport.parkNanos(3_000_000_000L);
        }
        for (int round = 1; round <= (quick ? 1 : 3); round++) {
          for (int i = 0; i < ALTERNATIVES.size(); i++) {
            // Each comes first, second, … in turn.
            String alternative = ALTERNATIVES.get((i + round) % ALTERNATIVES.size());
            round(cluster, clients, alternative, workload, round);
          }
        }
      } finally {
        clients.forEach(OsierClient::close);
      }
    }
    Directories.delete(directory);
  }

  private static String element(int i) {
    return "element-" + i + "-" + "x".repeat(ELEMENT_BYTES);
  }

  private static void fill(OsierClient client, String keyspace, Workload workload) {
    List<Value> elements = new ArrayList<>();
    for (int i = 0; i < workload.objectBytes / ELEMENT_BYTES; i++) {
      elements.add(Value.of(element(i)));
    }
    Keyspace at = client.session().keyspace(keyspace);
    List<CompletableFuture<Void>> open = new ArrayList<>();
    for (int i = 0; i < OBJECTS; i++) {
      open.add(at.set("o" + i).addAsync(elements));
      if (open.size() == 50) {
        open.forEach(CompletableFuture::join);
        open.clear();
      }
    }
  }

  private void round(
      LocalCluster cluster,
      List<OsierClient> clients,
      String alternative,
      Workload workload,
      int round)
      throws InterruptedException {
    KeyspaceCounts before = KeyspaceCounts.of(cluster, alternative);
    long wan = cluster.wanBytes();
    Duration cpu = cluster.cpu();
    double seconds = quick ? 5 : 10;
    Outcome outcome = run(clients, alternative, workload, seconds, round);
    double mu = KeyspaceCounts.of(cluster, alternative).coordinationMillis();
    LockSupport.parkNanos(3_500_000_000L); // what is held is shipped
    KeyspaceCounts after = KeyspaceCounts.of(cluster, alternative);
    long updates = Math.max(1, after.updates() - before.updates());
    Histogram seen = after.visibilitySince(before);
    double cpuMicros = cluster.cpu().minus(cpu).toNanos() / 1e3;
    String w = workload.name;
    comparison.add(w, alternative, RATE, outcome.operations / outcome.seconds);
    comparison.add(w, alternative, BYTES, (cluster.wanBytes() - wan) / (double) updates);
    comparison.add(w, alternative, CPU, cpuMicros / Math.max(1, outcome.operations));
    comparison.add(w, alternative, MU, mu);
    comparison.add(w, alternative, P50, seen.getValueAtPercentile(50) / 1e3);
    comparison.add(w, alternative, P99, seen.getValueAtPercentile(99) / 1e3);
    comparison.add(w, alternative, P9999, seen.getValueAtPercentile(99.99) / 1e3);
    comparison.add(w, alternative, MAX, seen.getMaxValue() / 1e3);
    comparison.add(w, alternative, LATE, (double) (after.violations() - before.violations()));
    System.out.printf(
        Locale.ROOT,
        "round %d, %-12s %,10.0f operations/s, %,8.0f bytes an update%n",
        round,
        alternative,
        outcome.operations / outcome.seconds,
        (cluster.wanBytes() - wan) / (double) updates);
  }

  private record Outcome(long operations, double seconds) {}

  private static Outcome run(
      List<OsierClient> clients, String keyspace, Workload workload, double seconds, long seed)
      throws InterruptedException {
    Zipf zipf = new Zipf(OBJECTS, 0.99);
    LongAdder done = new LongAdder();
    long began = System.nanoTime();
    long until = began + (long) (seconds * 1e9);
    List<Thread> threads = new ArrayList<>();
    for (OsierClient client : clients) {
      SplittableRandom random = new SplittableRandom(seed * 31 + threads.size());
      threads.add(
          Thread.ofPlatform()
              .start(() -> drive(client, keyspace, workload, zipf, random, until, done)));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    return new Outcome(done.sum(), (System.nanoTime() - began) / 1e9);
  }

  private static void drive(
      OsierClient client,
      String keyspace,
      Workload workload,
      Zipf zipf,
      SplittableRandom random,
      long until,
      LongAdder done) {
    Semaphore room = new Semaphore(IN_FLIGHT);
    List<Keyspace> sessions = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      sessions.add(client.session().keyspace(keyspace));
    }
    int elements = workload.objectBytes / ELEMENT_BYTES;
    int next = 0;
    while (System.nanoTime() < until) {
      room.acquireUninterruptibly();
      Keyspace session = sessions.get(next++ & 7);
      String key = "o" + zipf.next(random);
      Value element = Value.of(element(random.nextInt(elements)));
      // Adding what is there renews it, so that the objects keep their size.
      CompletableFuture<?> reply =
          random.nextInt(100) < workload.updatePercent
              ? session.set(key).addAsync(List.of(element))
              : session.set(key).containsAsync(element);
      var unused =
          reply.whenComplete(
              (value, error) -> {
                room.release();
                if (error == null) {
                  done.increment();
                }
              });
    }
    room.acquireUninterruptibly(IN_FLIGHT);
  }
}
