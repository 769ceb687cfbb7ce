package io.osier.bench.demo;

import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.Contents;
import io.osier.bench.cluster.CounterLoad;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.Figures;
import io.osier.bench.cluster.Jvm;
import io.osier.bench.cluster.LocalCluster;
import io.osier.core.OsierException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Shows the main job, end to end, and proves that nothing was lost. */
@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    description = {
      "Runs three datacenters (eu, us, ap) as processes on loopback with emulated links of 40 to"
          + " 120 ms",
      "there and back, and writes to all of them with YCSB (workload A, zipfian) and with counters"
          + " and",
      "sets. Half way the link between eu and us is cut for a while and healed; later ap is killed"
          + " (as by",
      "kill -9) and started again. At the end it compares every object of all three and checks that"
          + " no",
      "acknowledged update is missing."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:all datacenters are equal and nothing is missing",
      "1:they differ, something is missing, or it could not be run",
      "2:wrong usage"
    })
public final class DemoCommand implements Callable<Integer> {
  private static final Duration SETTLE_MAX = Duration.ofSeconds(60);

  @Option(
      names = "--seconds",
      defaultValue = "60",
      paramLabel = "N",
      description = "how long the load runs (default: ${DEFAULT-VALUE})")
  private int seconds;

  @Option(
      names = "--keyspace-sla",
      defaultValue = "2s",
      paramLabel = "DURATION",
      description = "the staleness bound, for example 500ms or 2s (default: ${DEFAULT-VALUE})")
  private String sla;

  @Option(
      names = "--target",
      defaultValue = "4000",
      paramLabel = "OPS",
      description = "operations per second to aim at (default: ${DEFAULT-VALUE})")
  private int target;

  @Option(names = "--json", paramLabel = "FILE", description = "write the result as JSON")
  private File jsonFile;

  @Option(
      names = "--seed",
      defaultValue = "1",
      description = "seed of keys and jitter (default: ${DEFAULT-VALUE})")
  private long seed;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "keep the data there; must be empty (default: a temporary directory)")
  private Path data;

  @Option(
      names = "--keep",
      description = "afterwards go on with a small load until Ctrl-C, to look at the dashboard")
  private boolean keep;

  @Option(names = "--keep-logs", description = "keep the processes' logs and configurations")
  private boolean keepLogs;

  /** Whether a person looks on: the launcher knows, Java before 22 does not. */
  private final boolean live = Boolean.getBoolean("osier.terminal");

  private long startNanos;

  /** For picocli. */
  public DemoCommand() {}

  @Override
  public Integer call() throws IOException {
    if (seconds < 5 || target < 10) {
      System.err.println("--seconds must be at least 5, and --target at least 10");
      return 2;
    }
    if (!sla.matches("\\d+(ms|s|m)")) {
      System.err.println("--keyspace-sla must be a duration like 500ms or 2s, not '" + sla + "'");
      return 2;
    }
    if (jsonFile != null) {
      try {
        Files.writeString(jsonFile.toPath(), ""); // now, not after the whole run
      } catch (IOException e) {
        System.err.println("--json: cannot write " + jsonFile + ": " + e.getMessage());
        return 2;
      }
    }
    if (data != null && Files.exists(data) && !isEmpty(data)) {
      System.err.println("--data: " + data + " must be an empty directory, or none yet");
      return 2;
    }
    Path directory = Files.createTempDirectory("osier-demo");
    String keyspaces =
        "    %s { sla = %s }\n    %s { sla = %s }\n"
            .formatted(DemoLoad.YCSB, sla, DemoLoad.COUNTERS, sla);
    startNanos = System.nanoTime();
    say("starting three datacenters; logs in " + directory);
    Path store = data == null ? directory.resolve("data") : data;
    LocalCluster cluster =
        new ClusterSettings(directory, keyspaces)
            .data(store)
            .javaOptions(Jvm.BRIEF)
            .seed(seed)
            .admin()
            .start();
    Thread cleanUp = new Thread(() -> cleanUp(cluster, directory), "demo-clean-up");
    Runtime.getRuntime().addShutdownHook(cleanUp);
    boolean good = false;
    try {
      cluster.awaitReady(Duration.ofSeconds(60));
      cluster.dcs().forEach(dc -> say("dashboard of " + dc + ": " + cluster.dashboard(dc)));
      good = run(cluster, directory);
      if (keep) {
        keep(cluster);
      }
      return good ? 0 : 1;
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.getMessage());
      return 1;
    } finally {
      cluster.close();
      try {
        Runtime.getRuntime().removeShutdownHook(cleanUp);
      } catch (IllegalStateException e) {
        // Interrupted from the keyboard: the hook is at work already.
      }
      if (good && !keepLogs) {
        Directories.delete(directory);
      } else {
        say("logs are kept in " + directory);
      }
    }
  }

  private void say(String line) {
    System.out.printf(Locale.ROOT, "%5.1f s  %s%n", (System.nanoTime() - startNanos) / 1e9, line);
  }

  private boolean run(LocalCluster cluster, Path directory) throws IOException {
    Course course = new Course(cluster, seconds, sla, live, this::say);
    try (DemoLoad load = new DemoLoad(cluster, directory, target, seconds, seed)) {
      say("loading " + DemoLoad.RECORDS + " YCSB records");
      load.insert();
      say("starting YCSB");
      load.start();
      say("running the load for " + seconds + " s");
      Phases phases = course.run(load);
      say("the load ends; waiting for the answers that are still due");
      load.stop();
      long wanUnderLoad = cluster.wanBytes();
      say("waiting until " + Course.VICTIM + " and the others serve");
      cluster.awaitReady(Duration.ofSeconds(60));
      say("waiting until the datacenters are equal");
      boolean equal = Contents.awaitEqual(cluster, SETTLE_MAX, this::say);
      phases.end("after the load", Sample.of(cluster));
      say("reading every object at every datacenter");
      Outcome outcome = Outcome.of(cluster, load, equal, wanUnderLoad, this::say);
      Report report = new Report(outcome, phases, Figures.of(cluster), cluster, target, seconds);
      if (jsonFile != null) {
        report.write(jsonFile);
      }
      report.print(this::say);
      boolean worked = load.ycsb().reads() > 0 && load.ycsb().updates() > 0;
      if (!worked) {
        say("FAILED: YCSB did no operation; see " + load.ycsb().log());
      }
      return outcome.isGood() && worked;
    }
  }

  /** Until the process is told to end; the hook closes the cluster. */
  private void keep(LocalCluster cluster) {
    try (CounterLoad load = new CounterLoad(cluster, DemoLoad.COUNTERS, target / 2, seed + 1)) {
      say("the dashboard stays at " + cluster.dashboard(cluster.dcs().getFirst()));
      say("going on with counters and sets; Ctrl-C ends it");
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static boolean isEmpty(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.findAny().isEmpty();
    }
  }

  /** After Ctrl-C: nobody will look at the logs of a run that was broken off. */
  private void cleanUp(LocalCluster cluster, Path directory) {
    cluster.close();
    if (!keepLogs) {
      try {
        Directories.delete(directory);
      } catch (IOException e) {
        System.err.println("could not delete " + directory + ": " + e.getMessage());
      }
    }
  }
}
