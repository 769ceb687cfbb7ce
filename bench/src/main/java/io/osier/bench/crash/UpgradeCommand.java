package io.osier.bench.crash;

import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.CounterLoad;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.LocalCluster;
import io.osier.core.OsierException;
import io.osier.proxy.OsierClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Upgrades datacenters of a former version one by one while all are written to. */
@Command(
    name = "upgrade",
    mixinStandardHelpOptions = true,
    description = {
      "Runs three durable datacenters of another distribution, with counters and sets written to"
          + " all of",
      "them, in a session and in a causal keyspace. One after the other is stopped and started"
          + " again as",
      "this build. In the end every acknowledged update must be at every datacenter, exactly once,"
          + " and a",
      "keyspace can be created at run time."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:nothing is missing",
      "1:something is, or it could not be run",
      "2:wrong usage"
    })
public final class UpgradeCommand implements Callable<Integer> {
  private static final Duration READY_MAX = Duration.ofMinutes(2);

  @Option(
      names = "--former",
      required = true,
      paramLabel = "DIR",
      description = "the other distribution, unpacked: bin/osier is in it")
  private Path former = Path.of("");

  @Option(
      names = "--seconds",
      defaultValue = "8",
      description = "how long between two steps (default: ${DEFAULT-VALUE})")
  private int seconds;

  @Option(
      names = "--target",
      defaultValue = "600",
      paramLabel = "OPS",
      description = "updates per second to aim at, in each keyspace (default: ${DEFAULT-VALUE})")
  private int target;

  @Spec private CommandSpec spec;

  /** For picocli. */
  public UpgradeCommand() {}

  @Override
  public Integer call() throws Exception {
    if (seconds < 1 || target < 10) {
      throw new ParameterException(
          spec.commandLine(), "--seconds must be at least 1, and --target at least 10");
    }
    Path distribution = former.toAbsolutePath();
    if (!Files.isExecutable(distribution.resolve("bin").resolve("osier"))) {
      throw new ParameterException(
          spec.commandLine(), "--former: there is no bin/osier that can be run in " + distribution);
    }
    Path directory = Files.createTempDirectory("osier-upgrade");
    System.out.println("logs and data in " + directory);
    boolean good = false;
    try (LocalCluster cluster =
        new ClusterSettings(directory, KeyspaceLoads.KEYSPACES).former(distribution).start()) {
      cluster.awaitReady(READY_MAX);
      good = run(cluster);
      return good ? 0 : 1;
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.getMessage());
      return 1;
    } finally {
      if (good) { // otherwise somebody will want to see them
        Directories.delete(directory);
      }
    }
  }

  private boolean run(LocalCluster cluster) throws Exception {
    try (KeyspaceLoads loads =
        new KeyspaceLoads(cluster, keyspace -> new CounterLoad(cluster, keyspace, target, 1))) {
      pause();
      for (String dc : cluster.dcs()) {
        cluster.stop(dc);
        long began = System.nanoTime();
        cluster.start(dc);
        cluster.awaitReady(dc, READY_MAX);
        System.out.printf(
            Locale.ROOT,
            "%s is upgraded, and serves again after %.1f s; %d updates acknowledged%n",
            dc,
            (System.nanoTime() - began) / 1e9,
            loads.done());
        pause();
      }
      createKeyspace(cluster);
      return loads.isRight(false);
    }
  }

  private void pause() {
    LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(seconds));
  }

  /** What an older version takes no part in: it must work once all are of this one. */
  private static void createKeyspace(LocalCluster cluster) throws Exception {
    String dc = cluster.dcs().getLast();
    try (OsierClient client = cluster.client(dc)) {
      client
          .admin()
          .createKeyspaceAsync("created", Map.of("sla", "1s"))
          .get(READY_MAX.toSeconds(), TimeUnit.SECONDS);
    }
    try (OsierClient client = cluster.only(cluster.dcs().getFirst())) {
      client.session().keyspace("created").counter("first").increment(1);
    }
    System.out.println("a keyspace is created at run time, and written to");
  }
}
