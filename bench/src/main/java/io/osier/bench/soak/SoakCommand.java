package io.osier.bench.soak;

import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.Contents;
import io.osier.bench.cluster.CounterLoad;
import io.osier.bench.cluster.Figures;
import io.osier.bench.cluster.LiveHeap;
import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.cluster.Trial;
import io.osier.bench.cluster.WriterLoad;
import io.osier.bench.wan.WanQuality;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Checks heaps, connections and updates while links are narrow and a datacenter is away for long.
 */
@Command(
    name = "soak",
    mixinStandardHelpOptions = true,
    description =
        "Runs three datacenters as processes with small heaps on narrow, long links. From "
            + "a tenth of the time to four fifths of it ap is cut off, while the others write "
            + "counters and sets as fast as they can, and objects of up to a megabyte; a causal "
            + "keyspace is written to at all. Checks that no process ends, that what objects "
            + "take of the heap stays below three quarters of it, that links are connected once, "
            + "and again only after the cut (not on a machine that others keep busy), that nothing "
            + "acknowledged is missing or done twice, and that all are equal at the end.")
public final class SoakCommand extends Trial {
  private static final List<String> STAY = List.of("eu", "us");
  private static final String AWAY = "ap";
  private static final double CUT_FROM = 0.1;
  private static final double CUT_TO = 0.8;
  private static final int LOOKS = 10;

  /** The load average per core up to which links are judged; the trial alone stays below half. */
  private static final double LOAD_MAX_PER_CORE = 8;

  /** The heap's limit of each datacenter. */
  private static final int HEAP_MEBIBYTES = 512;

  /** The quality of each direction of a link. */
  private static final WanQuality NARROW = new WanQuality(150, 5, 20 * 125_000L);

  /** The bytes that each writes a second into registers of 1 KB to 1 MB. */
  private static final long LARGE_BYTES = 3_000_000;

  private static final int CAUSAL_PER_SECOND = 300;

  @Option(
      names = "--seconds",
      defaultValue = "600",
      description = "how long the load runs, at least 10 (default: ${DEFAULT-VALUE})")
  private int seconds;

  private final Map<String, Long> heapMax = new TreeMap<>();

  /** The highest load average so far. */
  private double loadMax;

  @Override
  protected ClusterSettings settings(Path directory) {
    require(seconds >= 10, "--seconds must be at least 10");
    return new ClusterSettings(
            directory,
            """
                counters { sla = 2s }
                large { sla = 5s }
                causal { consistency = causal, sla = 2s }
            """)
        .heap("-Xmx" + HEAP_MEBIBYTES + "m")
        .links(NARROW);
  }

  @Override
  protected void run(LocalCluster cluster) throws IOException {
    try (CounterLoad counters =
            new CounterLoad(
                STAY, cluster::client, "counters", "", Integer.MAX_VALUE, Long.MAX_VALUE, seed());
        CounterLoad causal = new CounterLoad(cluster, "causal", CAUSAL_PER_SECOND, seed() + 10);
        LargeLoad large = new LargeLoad(cluster, STAY, "large", LARGE_BYTES, seed() + 20)) {
      List<WriterLoad> loads = List.of(counters, causal, large);
      disturb(cluster, loads, large);
      say("the load ends; waiting until the datacenters are equal, then reading every object");
      List<String> dead = dead(cluster);
      dead.forEach(dc -> wrong("the process of " + dc + " has ended; see its log"));
      if (!dead.isEmpty()) {
        loads.parallelStream().forEach(WriterLoad::stop);
        return;
      }
      Contents contents = compare(cluster, loads, false);
      look(cluster, loads, large);
      Map<String, Integer> connections = Connections.of(cluster.directory(), cluster.dcs());
      double judgedUpTo = LOAD_MAX_PER_CORE * Runtime.getRuntime().availableProcessors();
      boolean busy = loadMax > judgedUpTo;
      Connections.faults(connections, AWAY, busy).forEach(this::wrong);
      if (busy) {
        say(
            "the load average was up to %.0f: a datacenter that waits for a core is taken for dead,"
                + " so how often links were connected is judged up to a load of %.0f only",
            loadMax, judgedUpTo);
      }
      heapFaults(cluster.dcs(), heapMax, (long) HEAP_MEBIBYTES << 20).forEach(this::wrong);
      report(cluster, contents, large, connections);
    }
  }

  private static List<String> dead(LocalCluster cluster) {
    return cluster.dcs().stream().filter(dc -> !cluster.isAlive(dc)).toList();
  }

  /** Cuts a datacenter off, heals its links later, and measures all datacenters now and then. */
  private void disturb(LocalCluster cluster, List<WriterLoad> loads, LargeLoad large) {
    long began = System.nanoTime();
    boolean cut = false;
    boolean healed = false;
    int looks = 0;
    double at = 0;
    while (at < 1 && dead(cluster).isEmpty()) {
      LockSupport.parkNanos(100_000_000);
      at = (System.nanoTime() - began) / 1e9 / seconds;
      if (!cut && at >= CUT_FROM) {
        STAY.forEach(dc -> cluster.links().cut(dc, AWAY));
        cut = true;
        say("--- %s is cut off ---", AWAY);
      }
      if (!healed && at >= CUT_TO) {
        STAY.forEach(dc -> cluster.links().heal(dc, AWAY));
        healed = true;
        say("--- %s can be reached again ---", AWAY);
      }
      if (at * LOOKS >= looks + 1) {
        looks++;
        look(cluster, loads, large);
      }
    }
  }

  private void look(LocalCluster cluster, List<WriterLoad> loads, LargeLoad large) {
    loadMax =
        Math.max(loadMax, ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    List<String> heaps = new ArrayList<>();
    for (String dc : cluster.dcs()) {
      LiveHeap.bytes(cluster.pid(dc))
          .ifPresent(
              bytes -> {
                heapMax.merge(dc, bytes, Math::max);
                heaps.add(dc + " " + bytes / 1_000_000);
              });
    }
    say(
        "%,d updates, %,.1f MB of large values; links carried %,.1f MB; heap in MB: %s",
        loads.stream().mapToLong(WriterLoad::done).sum(),
        large.bytes() / 1e6,
        cluster.wanBytes() / 1e6,
        heaps);
  }

  /** Returns a line for each datacenter whose live objects took over three quarters of its heap. */
  static List<String> heapFaults(List<String> dcs, Map<String, Long> heapMax, long limit) {
    List<String> faults = new ArrayList<>();
    for (String dc : dcs) {
      Long most = heapMax.get(dc);
      if (most == null) {
        faults.add("the heap of " + dc + " was never measured");
      } else if (most > limit * 0.75) {
        faults.add("the objects of %s took %,d of %,d bytes of heap".formatted(dc, most, limit));
      }
    }
    return faults;
  }

  private void report(
      LocalCluster cluster, Contents contents, LargeLoad large, Map<String, Integer> connections) {
    Figures figures = Figures.of(cluster);
    say(
        "%,d objects; %.1f MB of large values, %.1f MB on the links; at most %s bytes of heap;"
            + " connections: %s; %d gaps, %d updates by way of a third; %.1f s of processor",
        contents.objects(),
        large.bytes() / 1e6,
        cluster.wanBytes() / 1e6,
        heapMax,
        connections,
        figures.sum("gaps_seen"),
        figures.sum("healed"),
        cluster.cpu().toMillis() / 1e3);
  }
}
