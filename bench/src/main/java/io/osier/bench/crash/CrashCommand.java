package io.osier.bench.crash;

import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.CounterLoad;
import io.osier.bench.cluster.Durability;
import io.osier.bench.cluster.Flicker;
import io.osier.bench.cluster.Jvm;
import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.cluster.OnceLoad;
import io.osier.bench.cluster.Trial;
import io.osier.bench.cluster.WriterLoad;
import io.osier.bench.wan.WanQuality;
import io.osier.proxy.OsierClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Kills or upgrades datacenters under load, and checks that no acknowledged update is lost. */
@Command(
    name = "crash",
    mixinStandardHelpOptions = true,
    description = {
      "Runs three datacenters as processes, with counters and sets written to all of "
          + "them in a session and in a causal keyspace. In each cycle one of them, or all at "
          + "once, is killed as by kill -9 and started again. In the end every acknowledged "
          + "update must be at every datacenter, exactly once; with a durability that forgets, "
          + "all datacenters must lack the same.",
      "  --once: every object is created by one update, single directions of links are "
          + "cut all the time, and the shares of the memory are small.",
      "  --pairs: each cycle kills two.",
      "  --former DIR: the datacenters are of another distribution, and one after the "
          + "other is stopped and started again as this build; then a keyspace is created at "
          + "run time. There are no further cycles."
    })
public final class CrashCommand extends Trial {
  private static final int CYCLES = 10;
  private static final long UPGRADE_PAUSE_NANOS = 8_000_000_000L;

  @Option(names = "--cycles", description = "default: " + CYCLES)
  private @Nullable Integer cycles;

  @Option(
      names = "--target",
      defaultValue = "3000",
      description = "updates per second to aim at (default: ${DEFAULT-VALUE})")
  private int target;

  @Option(
      names = "--durability",
      defaultValue = "sync",
      description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})")
  private Durability durability;

  @Option(names = "--once", description = "new objects only, written once")
  private boolean once;

  @Option(names = "--pairs", description = "kill two each time")
  private boolean pairs;

  @Option(names = "--former", paramLabel = "DIR", description = "an unpacked distribution")
  private @Nullable Path former;

  @Override
  protected ClusterSettings settings(Path directory) {
    require(
        (cycles == null || cycles >= 1) && target >= 10,
        "--cycles must be at least 1, and --target at least 10");
    require(
        Stream.of(once, pairs, former != null).filter(given -> given).count() <= 1,
        "--once, --pairs and --former exclude each other");
    require(former == null || cycles == null, "--former has no --cycles: each is upgraded once");
    if (once) {
      return new ClusterSettings(directory, OnceLoad.KEYSPACES)
          .store(durability.setting() + ", cache = 1MiB")
          .settings("memory { trails = 128KiB, relays = 128KiB }")
          .links(new WanQuality(5, 3, 0))
          .heap("-Xmx192m")
          .javaOptions(Jvm.BRIEF);
    }
    ClusterSettings settings =
        new ClusterSettings(
                directory, "likes { sla = 1s }\n accounts { sla = 1s, consistency = causal }\n")
            .store(durability.setting());
    if (former != null) {
      Path distribution = former.toAbsolutePath();
      require(
          Files.isExecutable(distribution.resolve("bin").resolve("osier")),
          "--former: there is no bin/osier that can be run in " + distribution);
      return settings.former(distribution);
    }
    return settings.javaOptions(Jvm.BRIEF); // a process lives for seconds
  }

  @Override
  protected void run(LocalCluster cluster) throws Exception {
    boolean forgets = durability.isLossy();
    List<WriterLoad> loads = new ArrayList<>();
    try {
      if (once) {
        loads.add(new OnceLoad(cluster.dcs(), cluster::client, target, forgets, seed()));
        try (Flicker flicker = new Flicker(cluster.links(), cluster.dcs(), seed(), this::wrong)) {
          cycles(cluster, loads);
          say("%d cuts", flicker.cuts());
          if (flicker.cuts() == 0) {
            wrong("no link was cut");
          }
        }
      } else {
        for (String keyspace : List.of("likes", "accounts")) {
          loads.add(new CounterLoad(cluster, keyspace, target / 2, seed()));
        }
        cycles(cluster, loads);
      }
      if (former != null) {
        LockSupport.parkNanos(UPGRADE_PAUSE_NANOS); // all are of this build, and written to
        createKeyspace(cluster);
      }
      compare(cluster, loads, forgets);
    } finally {
      loads.forEach(WriterLoad::close);
    }
  }

  private void cycles(LocalCluster cluster, List<WriterLoad> loads) {
    Random random = new Random(seed());
    List<Double> starts = new ArrayList<>();
    int last = former != null ? cluster.dcs().size() : cycles == null ? CYCLES : cycles;
    for (int cycle = 0; cycle < last; cycle++) {
      LockSupport.parkNanos(
          former != null ? UPGRADE_PAUSE_NANOS : (500 + random.nextInt(2_000)) * 1_000_000L);
      List<String> victims = victims(cluster, cycle, random);
      if (former != null) {
        victims.forEach(cluster::stop);
      } else {
        victims.parallelStream().forEach(cluster::kill);
        LockSupport.parkNanos(random.nextInt(1_000) * 1_000_000L);
      }
      long began = System.nanoTime();
      victims.forEach(cluster::start);
      victims.forEach(dc -> cluster.awaitReady(dc, PATIENCE));
      starts.add((System.nanoTime() - began) / 1e9);
      double processor = victims.stream().mapToLong(dc -> cluster.cpu(dc).toMillis()).sum() / 1e3;
      say(
          "cycle %d: ended %s, serving again after %.1f s, %.1f s of processor; %d updates"
              + " acknowledged",
          cycle + 1,
          victims,
          starts.getLast(),
          processor,
          loads.stream().mapToLong(WriterLoad::done).sum());
    }
    Collections.sort(starts);
    say(
        "serving again after %.1f s (median), %.1f s (slowest)",
        starts.get(starts.size() / 2), starts.getLast());
  }

  private List<String> victims(LocalCluster cluster, int cycle, Random random) {
    List<String> dcs = cluster.dcs();
    String one = dcs.get(cycle % dcs.size());
    if (former != null) {
      return List.of(one);
    }
    if (pairs) {
      return dcs.stream().filter(dc -> !dc.equals(one)).toList();
    }
    boolean everyone = random.nextInt(4) == 0 && !durability.isLossy();
    return everyone ? dcs : List.of(dcs.get(random.nextInt(dcs.size())));
  }

  /** Creates a keyspace at run time, which works once all datacenters are of this build. */
  private static void createKeyspace(LocalCluster cluster) throws Exception {
    try (OsierClient client = cluster.client(cluster.dcs().getLast())) {
      client
          .admin()
          .createKeyspaceAsync("created", Map.of("sla", "1s"))
          .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
    try (OsierClient client = cluster.only(cluster.dcs().getFirst())) {
      client.session().keyspace("created").counter("first").increment(1);
    }
    say("a keyspace is created at run time, and written to");
  }
}
