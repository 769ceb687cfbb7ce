package io.osier.bench.demo;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.Contents;
import io.osier.bench.cluster.CounterLoad;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.Figures;
import io.osier.bench.cluster.Jvm;
import io.osier.bench.cluster.LocalCluster;
import io.osier.core.OsierException;
import io.osier.protocol.Request;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Shows the main job, end to end, and proves that nothing was lost. */
@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    description = {
      "Runs three datacenters (eu, us, ap) as processes on loopback with emulated links of 40 to",
      "120 ms there and back, and writes to all of them with YCSB (workload A, zipfian) and with",
      "counters and sets. Half way the link between eu and us is cut for a while and healed; later",
      "ap is killed (as by kill -9) and started again. At the end it compares every object of all",
      "three and checks that no acknowledged update is missing."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:all datacenters are equal and nothing is missing",
      "1:they differ, something is missing, or it could not be run",
      "2:wrong usage"
    })
public final class DemoCommand implements Callable<Integer> {
  static final String YCSB = "ycsb";
  private static final String COUNTERS = "counters";
  private static final int RECORDS = 1_000;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** Until YCSB has begun, and for its last calls. */
  private static final Duration YCSB_MAX = Duration.ofSeconds(30);

  @Option(
      names = "--seconds",
      defaultValue = "60",
      description = "how long the load runs (default: ${DEFAULT-VALUE})")
  private int seconds;

  @Option(
      names = "--keyspace-sla",
      defaultValue = "2s",
      description = "the staleness bound, for example 500ms or 2s (default: ${DEFAULT-VALUE})")
  private String sla;

  @Option(
      names = "--target",
      defaultValue = "4000",
      description = "operations per second to aim at (default: ${DEFAULT-VALUE})")
  private int target;

  @Option(names = "--json", paramLabel = "FILE", description = "write the result as JSON")
  private File jsonFile;

  @Option(names = "--seed", defaultValue = "1", description = "of keys and jitter (default: 1)")
  private long seed;

  @Option(
      names = "--keep",
      description = "afterwards go on with a small load until Ctrl-C, to look at the dashboard")
  private boolean keep;

  /** Whether a person looks on: the launcher knows, Java before 22 does not. */
  private final boolean live = Boolean.getBoolean("osier.terminal");

  private long startNanos;

  /** For picocli. */
  public DemoCommand() {}

  @Override
  public Integer call() throws IOException {
    if (seconds < 5 || target < 10 || !sla.matches("\\d+(ms|s|m)")) {
      System.err.println(
          "--seconds must be at least 5, --target at least 10, and --keyspace-sla a duration like"
              + " 500ms or 2s");
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
    Path directory = Files.createTempDirectory("osier-demo");
    String keyspaces =
        "    %s { sla = %s }\n    %s { sla = %s }\n".formatted(YCSB, sla, COUNTERS, sla);
    startNanos = System.nanoTime();
    say("starting three datacenters; logs and data in " + directory);
    LocalCluster cluster =
        new ClusterSettings(directory, keyspaces).javaOptions(Jvm.BRIEF).seed(seed).admin().start();
    Thread cleanUp = new Thread(() -> cleanUp(cluster, directory), "demo-clean-up");
    Runtime.getRuntime().addShutdownHook(cleanUp); // nobody will look at what was broken off
    boolean good = false;
    try {
      cluster.awaitReady(PATIENCE);
      cluster.dcs().forEach(dc -> say("dashboard of " + dc + ": " + cluster.dashboard(dc)));
      good = run(cluster, directory);
      if (keep) {
        keep(cluster);
      }
      return good ? 0 : 1;
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.reason());
      return 1;
    } finally {
      try {
        Runtime.getRuntime().removeShutdownHook(cleanUp);
        if (good) {
          cleanUp(cluster, directory);
        } else {
          cluster.close();
          say("logs are kept in " + directory);
        }
      } catch (IllegalStateException e) {
        // Interrupted from the keyboard: the hook is at work already.
      }
    }
  }

  private void say(String line) {
    System.out.printf(Locale.ROOT, "%5.1f s  %s%n", (System.nanoTime() - startNanos) / 1e9, line);
  }

  private boolean run(LocalCluster cluster, Path directory) throws IOException {
    Course course = new Course(cluster, seconds, sla, live, this::say);
    say("loading " + RECORDS + " YCSB records");
    YcsbRun inserts = YcsbRun.load(cluster, directory, RECORDS);
    inserts.await(PATIENCE);
    say("starting YCSB");
    YcsbRun ycsb = YcsbRun.transactions(cluster, directory, RECORDS, target / 2, seconds);
    ycsb.awaitStarted(YCSB_MAX);
    long began = System.nanoTime();
    try (CounterLoad counters = new CounterLoad(cluster, COUNTERS, target / 2, seed)) {
      say("running the load for " + seconds + " s");
      course.run(counters, began);
      say("the load ends; waiting for the answers that are still due");
      // Before waiting: the calls that hang after the kill are few, and long.
      double countersPerSecond = counters.done() / ((System.nanoTime() - began) / 1e9);
      counters.stop();
      ycsb.await(YCSB_MAX);
      long wanUnderLoad = cluster.wanBytes();
      say("waiting until " + Course.VICTIM + " and the others serve and are equal");
      cluster.awaitReady(PATIENCE);
      Contents contents = Contents.of(cluster, PATIENCE, this::say, List.of(counters), YCSB);
      course.end("after the load", course.phases().getFirst().from());
      List<String> faults = new ArrayList<>(contents.faults(false));
      long records = contents.fewest().getOrDefault(YCSB, 0L);
      if (records < RECORDS) {
        faults.add(RECORDS - records + " records of YCSB are missing");
      }
      if (ycsb.reads() == 0 || ycsb.updates() == 0) {
        faults.add("YCSB did no operation; see " + ycsb.log());
      }
      Report report =
          new Report(
              contents,
              faults,
              counters.done() + inserts.inserts() + ycsb.updates(),
              counters.failures() + ycsb.failures(),
              (ycsb.reads() + ycsb.updates()) / ycsb.seconds() + countersPerSecond,
              wanUnderLoad,
              cluster.wanBytes(),
              Figures.of(cluster));
      tell(report, course, cluster);
      return faults.isEmpty();
    }
  }

  private void tell(Report report, Course course, LocalCluster cluster) throws IOException {
    long slaMillis =
        cluster
            .inspect(cluster.dcs().getFirst(), Request.Topic.STAT, 0)
            .at("/keyspaces/" + YCSB + "/sla_ms")
            .asLong();
    ObjectNode json = report.json(slaMillis, seconds, course.phases());
    if (jsonFile != null) {
      new ObjectMapper().writerWithDefaultPrettyPrinter().writeValue(jsonFile, json);
    }
    System.out.println("\n" + report.summary(slaMillis, target));
    System.out.println(Report.phases(json) + "\n");
    say(
        report.faults().isEmpty()
            ? report.contents().objects()
                + " objects are equal at eu, us and ap; nothing is missing"
            : "FAILED: " + String.join("; ", report.faults()));
  }

  /** Until the process is told to end; the hook closes the cluster. */
  private void keep(LocalCluster cluster) {
    try (CounterLoad load = new CounterLoad(cluster, COUNTERS, target / 2, seed + 1)) {
      say("the dashboard stays at " + cluster.dashboard(cluster.dcs().getFirst()));
      say("going on with counters and sets; Ctrl-C ends it");
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void cleanUp(LocalCluster cluster, Path directory) {
    cluster.close();
    Directories.deleteQuietly(directory);
  }
}
