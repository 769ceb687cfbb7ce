package io.osier.bench.crash;

import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.CounterLoad;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.Durability;
import io.osier.bench.cluster.Flicker;
import io.osier.bench.cluster.Jvm;
import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.cluster.OnceLoad;
import io.osier.bench.cluster.Topology;
import io.osier.bench.wan.WanQuality;
import io.osier.core.OsierException;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.LongSupplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Kills datacenters under load, again and again, and finds every acknowledged update. */
@Command(
    name = "crash",
    mixinStandardHelpOptions = true,
    description = {
      "Runs three durable datacenters as processes with counters and sets written to all of them."
          + " In each",
      "cycle one of them, or all at once, is killed as by kill -9 and started again. In the end"
          + " every",
      "acknowledged update must be at every datacenter, exactly once. With --once every object is"
          + " created by",
      "one update, single directions of links are cut all the time, and the shares of the memory"
          + " are small;",
      "with a durability that forgets, all datacenters must lack the same."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:nothing is missing",
      "1:something is, or it could not be run",
      "2:wrong usage"
    })
public final class CrashCommand implements Callable<Integer> {
  private static final String KEYSPACE = "counters";

  /** While links are cut all the time a start may take long. */
  private static final Duration ONCE_READY = Duration.ofMinutes(5);

  private static final int SAID_POLLS = 100;

  private static final Duration SETTLE_MAX = Duration.ofMinutes(2);

  @Option(
      names = "--cycles",
      defaultValue = "10",
      paramLabel = "N",
      description = "how often to kill (default: ${DEFAULT-VALUE})")
  private int cycles;

  @Option(
      names = "--target",
      defaultValue = "3000",
      paramLabel = "OPS",
      description = "updates per second to aim at (default: ${DEFAULT-VALUE})")
  private int target;

  @Option(
      names = "--seed",
      defaultValue = "0",
      description = "seed of what is killed when; 0 draws one, which is printed (default)")
  private long seed;

  @Option(
      names = "--once",
      description = "new objects only, written once, with flickering links and little memory")
  private boolean once;

  @Option(
      names = "--durability",
      defaultValue = "sync",
      paramLabel = "HOW",
      description = "with --once: sync, async, none or memory (default: ${DEFAULT-VALUE})")
  private Durability durability = Durability.SYNC;

  /** For picocli. */
  public CrashCommand() {}

  @Override
  public Integer call() throws IOException {
    if (cycles < 1 || target < 10) {
      System.err.println("--cycles must be at least 1, and --target at least 10");
      return 2;
    }
    long used = seed == 0 ? new Random().nextInt(1_000_000) : seed;
    Path directory = Files.createTempDirectory("osier-crash");
    System.out.println("seed " + used + "; logs and data in " + directory);
    boolean good = false;
    ClusterSettings settings =
        once
            ? new ClusterSettings(directory, OnceLoad.KEYSPACES)
                .store(durability.setting() + ", cache = 1MiB")
                .settings("memory { trails = 128KiB, relays = 128KiB }")
                .links(new WanQuality(5, 3, 0))
                .heap("-Xmx192m")
            : new ClusterSettings(directory, "    " + KEYSPACE + " { sla = 1s }\n");
    // A process lives for seconds here.
    settings.javaOptions(Jvm.BRIEF);
    try (LocalCluster cluster = settings.seed(used).start()) {
      cluster.awaitReady(Duration.ofSeconds(60));
      good = once ? once(cluster, used) : counters(cluster, used);
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

  private boolean counters(LocalCluster cluster, long used) {
    try (CounterLoad load = new CounterLoad(cluster, KEYSPACE, target, used)) {
      List<Double> starts = kill(cluster, new Random(used), true, load::done, load::failures);
      load.stop();
      return isRight(
          cluster,
          client -> load.audit(client.session().keyspace(KEYSPACE)),
          load.done(),
          false,
          starts);
    }
  }

  private boolean once(LocalCluster cluster, long used) {
    boolean forgets = durability.isLossy();
    try (OnceLoad load = new OnceLoad(cluster.dcs(), cluster::client, target, forgets, used)) {
      List<Double> starts;
      try (Flicker flicker = new Flicker(cluster, used)) {
        starts = kill(cluster, new Random(used), !forgets, load::done, load::failures);
        System.out.println(flicker.cuts() + " cuts");
      }
      load.stop();
      return isRight(cluster, load::audit, load.done(), forgets, starts);
    }
  }

  /** Kills again and again; how long each start took, in seconds, the fastest first. */
  private List<Double> kill(
      LocalCluster cluster,
      Random random,
      boolean sometimesAll,
      LongSupplier done,
      LongSupplier failures) {
    List<Double> all = new ArrayList<>();
    for (int cycle = 1; cycle <= cycles; cycle++) {
      LockSupport.parkNanos((500 + random.nextInt(2_000)) * 1_000_000L);
      boolean everyone = random.nextInt(4) == 0 && sometimesAll;
      Set<String> victims =
          everyone ? Set.copyOf(Topology.DCS) : Set.of(Topology.DCS.get(random.nextInt(3)));
      victims.parallelStream().forEach(cluster::kill);
      LockSupport.parkNanos(random.nextInt(1_000) * 1_000_000L);
      long began = System.nanoTime();
      victims.forEach(cluster::start);
      cluster.awaitReady(once ? ONCE_READY : Duration.ofSeconds(60));
      double seconds = (System.nanoTime() - began) / 1e9;
      all.add(seconds);
      System.out.printf(
          Locale.ROOT,
          "cycle %d: killed %s, serving again after %.1f s; %d updates acknowledged, %d failed or"
              + " unknown%n",
          cycle,
          victims,
          seconds,
          done.getAsLong(),
          failures.getAsLong());
      for (String victim : victims) {
        System.out.printf(
            Locale.ROOT,
            "  %s: %.1f s of processor so far; by its log it served after %s%n",
            victim,
            cluster.cpu(victim).toMillis() / 1e3,
            startParts(cluster, victim));
      }
    }
    Collections.sort(all);
    return all;
  }

  /** It says so a moment after it answers its first client. */
  private static String startParts(LocalCluster cluster, String dc) {
    for (int asked = 0; asked < SAID_POLLS; asked++) {
      Optional<String> parts = cluster.startParts(dc);
      if (parts.isPresent()) {
        return parts.get();
      }
      LockSupport.parkNanos(20_000_000);
    }
    return "(not said yet)";
  }

  private boolean isRight(
      LocalCluster cluster,
      Function<OsierClient, CounterLoad.Audit> audit,
      long acknowledged,
      boolean forgets,
      List<Double> starts) {
    boolean equal = cluster.fleet().awaitEqual(SETTLE_MAX, System.out::println);
    CounterLoad.Audit found = cluster.fleet().audit(audit);
    System.out.printf(
        Locale.ROOT,
        "%d cycles, %d acknowledged updates, %d missing, %d surplus, datacenters %s; serving again"
            + " after %.1f s (median), %.1f s (slowest)%n",
        cycles,
        acknowledged,
        found.missing(),
        found.surplus(),
        equal ? "equal" : "NOT EQUAL",
        starts.get(starts.size() / 2),
        starts.getLast());
    return equal && (forgets || (found.missing() == 0 && found.surplus() == 0));
  }
}
