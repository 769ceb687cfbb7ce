package io.osier.bench.demo;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.Contents;
import io.osier.bench.cluster.Directories;
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
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Runs three datacenters under a load and faults, and checks that no acknowledged update was lost.
 */
@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    description =
        "Runs three datacenters (eu, us, ap) as processes on loopback with emulated links "
            + "of 40 to 120 ms there and back, and does to all of them what users do: likes and "
            + "views, YCSB's records, carts, presence with a time to live, sessions, a "
            + "leaderboard. Half way the link between eu and us is cut for a while and healed; "
            + "later ap is killed (as by kill -9) and started again. At the end it compares every "
            + "object of all three and checks that no acknowledged update is missing.",
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:all datacenters are equal and nothing is missing",
      "1:they differ, something is missing, or it could not be run",
      "2:wrong usage"
    })
public final class DemoCommand implements Callable<Integer> {
  /**
   * With Java's own size a collection copies the updates that wait for a link for half a second.
   */
  private static final String YOUNG_GENERATION = "-Xmn48m";

  private static final Duration PATIENCE = Duration.ofMinutes(5);

  /** The divisor of --target for the load that runs on with --keep. */
  private static final int KEPT_PART = 4;

  @Option(
      names = "--seconds",
      defaultValue = "60",
      description = "how long the load runs (default: ${DEFAULT-VALUE})")
  private int seconds;

  @Option(
      names = "--keyspace-sla",
      description =
          "one staleness bound for all, for example 500ms or 2s. Default: 2s for what is one's own"
              + " (carts, sessions, records), 5s for presence and the leaderboard, 10s for likes"
              + " and views")
  private @Nullable String sla;

  @Option(
      names = "--operations",
      description = "every update travels by itself: what the links carry then, to compare")
  private boolean operations;

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

  /** Whether the output is a terminal; the launcher tells, since Java before 22 cannot. */
  private final boolean live = Boolean.getBoolean("osier.terminal");

  private long startNanos;

  @Override
  public Integer call() throws IOException {
    if (seconds < 5 || target < 10 || (sla != null && !sla.matches("\\d+(ms|s|m)"))) {
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
    startNanos = System.nanoTime();
    say("starting three datacenters; logs and data in " + directory);
    List<Kind> kinds = kinds();
    LocalCluster cluster =
        new ClusterSettings(directory, keyspaces(kinds))
            .javaOptions(
                Stream.concat(
                        Jvm.BRIEF.stream(), Stream.of(Jvm.TELLS_COLLECTIONS, YOUNG_GENERATION))
                    .toList())
            .seed(seed)
            .admin()
            .start();
    Thread cleanUp = new Thread(() -> cleanUp(cluster, directory), "demo-clean-up");
    Runtime.getRuntime().addShutdownHook(cleanUp); // an interrupted run leaves nothing
    boolean good = false;
    try {
      cluster.awaitReady(PATIENCE);
      cluster.dcs().forEach(dc -> say("dashboard of " + dc + ": " + cluster.dashboard(dc)));
      good = run(cluster, kinds);
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

  /** Returns the demo's kinds of data, without any objects yet. */
  static List<Kind> kinds() {
    return List.of(
        new Likes(), new Records(), new Carts(), new Presence(), new Sessions(), new Leaderboard());
  }

  /** Returns the content of osier.keyspaces. */
  private String keyspaces(List<Kind> kinds) {
    StringBuilder lines = new StringBuilder();
    for (Kind kind : kinds) {
      lines.append("    ").append(kind.keyspace).append(" { sla = ");
      lines.append(sla == null ? kind.sla : sla);
      lines.append(operations ? ", propagation = op }\n" : " }\n");
    }
    return lines.toString();
  }

  private boolean run(LocalCluster cluster, List<Kind> kinds) throws IOException {
    say("writing what is there before the load");
    DemoLoad.fill(cluster, kinds);
    cluster.awaitEqual(PATIENCE, this::say);
    try (Course course = new Course(cluster, seconds, live, this::say);
        DemoLoad load = new DemoLoad(cluster, kinds, target, seed)) {
      long began = System.nanoTime();
      say("running the load for " + seconds + " s");
      course.run(load, began);
      say("the load ends; waiting for the answers that are still due");
      // Before waiting: the calls that hang after the kill are few, and long.
      double perSecond = (load.done() + load.reads()) / ((System.nanoTime() - began) / 1e9);
      load.stop();
      say("waiting until " + Course.VICTIM + " and the others serve and are equal");
      cluster.awaitReady(PATIENCE);
      Contents contents = Contents.of(cluster, PATIENCE, this::say, List.of(load));
      Comeback comeback = course.comeback();
      if (comeback != null) {
        comeback.await(PATIENCE);
      }
      course.end("after the load");
      List<String> faults = new ArrayList<>(contents.faults(false));
      faults.addAll(load.broken());
      if (load.reads() == 0) {
        faults.add("nothing was read");
      }
      for (Kind kind : kinds) {
        if (kind.acknowledged.sum() == 0) {
          faults.add("no update of " + kind.keyspace + " was acknowledged");
        }
      }
      Report report =
          new Report(
              contents,
              faults,
              load.done(),
              load.failures() + load.failedReads(),
              perSecond,
              kinds,
              bounds(cluster),
              course.phases(),
              comeback);
      tell(report);
      return faults.isEmpty();
    }
  }

  /** Returns the staleness bound of each keyspace, in milliseconds. */
  private static Map<String, Long> bounds(LocalCluster cluster) {
    Map<String, Long> bounds = new HashMap<>();
    cluster
        .inspect(cluster.dcs().getFirst(), Request.Topic.STAT, 0)
        .get("keyspaces")
        .properties()
        .forEach(e -> bounds.put(e.getKey(), e.getValue().get("sla_ms").asLong()));
    return bounds;
  }

  private void tell(Report report) throws IOException {
    ObjectNode json = report.json(seconds).put("operations_alone", operations);
    if (jsonFile != null) {
      new ObjectMapper().writerWithDefaultPrettyPrinter().writeValue(jsonFile, json);
    }
    System.out.println("\n" + report.summary(json, target));
    System.out.println(Report.kinds(json) + "\n");
    System.out.println(Report.phases(json) + "\n");
    say(
        report.faults().isEmpty()
            ? report.contents().objects()
                + " objects are equal at eu, us and ap; nothing is missing"
            : "FAILED: " + String.join("; ", report.faults()));
  }

  /** Runs a small load until the process is told to end; the shutdown hook closes the cluster. */
  private void keep(LocalCluster cluster) {
    try (DemoLoad load = new DemoLoad(cluster, kinds(), target / KEPT_PART, seed + 1)) {
      say("the dashboard stays at " + cluster.dashboard(cluster.dcs().getFirst()));
      say("going on with a small load; Ctrl-C ends it");
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
