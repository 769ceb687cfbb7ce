package io.osier.bench.crash;

import com.fasterxml.jackson.databind.JsonNode;
import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.CounterLoad;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.Durability;
import io.osier.bench.cluster.LocalCluster;
import io.osier.core.OsierException;
import io.osier.protocol.Request;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures what the lives of datacenters leave behind (invariant I10). */
@Command(
    name = "restarts",
    mixinStandardHelpOptions = true,
    description = {
      "Runs three datacenters as processes, with counters and sets written to all of them in a"
          + " session and",
      "in a causal keyspace. Again and again two of them are killed as by kill -9 and started"
          + " again. Shows",
      "after some restarts, and in the end, how large version vectors, states and frames are. In"
          + " the end",
      "every acknowledged update must be at every datacenter, exactly once."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:nothing is missing",
      "1:something is, or it could not be run",
      "2:wrong usage"
    })
public final class RestartsCommand implements Callable<Integer> {
  private static final Duration READY_MAX = Duration.ofMinutes(2);

  /** More would grow what is measured. */
  private static final long ELEMENTS_MAX = 500;

  /** For each sample; all objects are updated meanwhile. */
  private static final int SAMPLE_SECONDS = 10;

  private static final int FIRST_SAMPLE = 4; // then 40, 400

  @Option(
      names = "--restarts",
      defaultValue = "40",
      paramLabel = "N",
      description = "how many processes are killed and started (default: ${DEFAULT-VALUE})")
  private int restarts;

  @Option(
      names = "--durability",
      defaultValue = "async",
      paramLabel = "HOW",
      description = "sync, async, none or memory (default: ${DEFAULT-VALUE})")
  private Durability durability = Durability.ASYNC;

  @Option(
      names = "--target",
      defaultValue = "600",
      paramLabel = "OPS",
      description = "updates per second to aim at, in each keyspace (default: ${DEFAULT-VALUE})")
  private int target;

  @Spec private CommandSpec spec;

  /** For picocli. */
  public RestartsCommand() {}

  @Override
  public Integer call() throws IOException {
    if (restarts < 2 || target < 10) {
      throw new ParameterException(
          spec.commandLine(), "--restarts must be at least 2, and --target at least 10");
    }
    Path directory = Files.createTempDirectory("osier-restarts");
    System.out.println("logs and data in " + directory);
    boolean good = false;
    try (LocalCluster cluster =
        new ClusterSettings(directory, KeyspaceLoads.KEYSPACES)
            .store(durability.setting())
            .start()) {
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

  private boolean run(LocalCluster cluster) {
    try (KeyspaceLoads loads = new KeyspaceLoads(cluster, keyspace -> load(cluster, keyspace))) {
      System.out.println(
          "restarts | replicas in the largest vector | bytes of a state | bytes on the links per"
              + " update");
      sample(cluster, loads, 0); // the first objects are there
      int done = 0;
      int next = FIRST_SAMPLE;
      for (int survivor = 0; done < restarts; survivor++) {
        List<String> victims = new ArrayList<>(cluster.dcs());
        victims.remove(survivor % victims.size());
        victims.parallelStream().forEach(cluster::kill);
        victims.forEach(cluster::start);
        victims.forEach(dc -> cluster.awaitReady(dc, READY_MAX));
        done += victims.size();
        if (done >= next || done >= restarts) {
          sample(cluster, loads, done);
          next *= 10;
        }
      }
      return loads.isRight(durability.isLossy());
    }
  }

  private CounterLoad load(LocalCluster cluster, String keyspace) {
    return new CounterLoad(
        cluster.dcs(), cluster::client, keyspace, "", target, ELEMENTS_MAX, keyspace.hashCode());
  }

  private void sample(LocalCluster cluster, KeyspaceLoads loads, int restarts) {
    long updates = loads.done();
    long wan = cluster.wanBytes();
    LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(SAMPLE_SECONDS));
    double perUpdate = (cluster.wanBytes() - wan) / (double) Math.max(1, loads.done() - updates);
    int replicas = 0;
    long bytes = 0;
    long objects = 0;
    for (JsonNode keyspace :
        cluster.inspect(cluster.dcs().getFirst(), Request.Topic.STAT, 0).get("keyspaces")) {
      for (JsonNode through : keyspace.get("through")) {
        replicas = Math.max(replicas, through.size());
      }
    }
    for (JsonNode keyspace :
        cluster.inspect(cluster.dcs().getFirst(), Request.Topic.DIGEST, 0).get("keyspaces")) {
      for (JsonNode partition : keyspace.get("partitions")) {
        bytes += partition.get("bytes").asLong();
        objects += partition.get("objects").asLong();
      }
    }
    System.out.printf(
        Locale.ROOT,
        "%d | %d | %.1f | %.1f%n",
        restarts,
        replicas,
        bytes / (double) Math.max(1, objects),
        perUpdate);
  }
}
