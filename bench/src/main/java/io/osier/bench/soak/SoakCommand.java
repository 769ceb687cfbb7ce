package io.osier.bench.soak;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.Contents;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.Figures;
import io.osier.bench.cluster.LiveHeap;
import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.wan.WanQuality;
import io.osier.core.OsierException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Finds what grows, flaps or is lost when links are narrow and a datacenter is away for long. */
@Command(
    name = "soak",
    mixinStandardHelpOptions = true,
    description = {
      "Runs three datacenters as processes with small heaps on narrow, long links. From a tenth of"
          + " the",
      "time to four fifths of it ap is cut off, while the others write as fast as they can, objects"
          + " of",
      "up to a megabyte among them. Checks that no process ends, that what objects take of the"
          + " heap",
      "stays below three quarters of it, that links are connected once, and again only after the"
          + " cut,",
      "that nothing acknowledged is missing or done twice, and that all are equal at the end."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:all of that holds",
      "1:something does not, or it could not be run",
      "2:wrong usage"
    })
public final class SoakCommand implements Callable<Integer> {
  private static final List<String> STAY = List.of("eu", "us");
  private static final String AWAY = "ap";
  private static final double CUT_FROM = 0.1;
  private static final double CUT_TO = 0.8;
  private static final int LOOKS = 10;
  private static final double JITTER_MILLIS = 5;

  @Option(
      names = "--seconds",
      defaultValue = "600",
      paramLabel = "N",
      description = "how long the load runs, at least 10 (default: ${DEFAULT-VALUE})")
  private int seconds;

  @Option(
      names = "--heap",
      defaultValue = "512",
      paramLabel = "MIB",
      description = "the heap of each datacenter (default: ${DEFAULT-VALUE})")
  private int heapMebibytes;

  @Option(
      names = "--mbit",
      defaultValue = "20",
      paramLabel = "N",
      description = "what each direction of a link carries a second (default: ${DEFAULT-VALUE})")
  private int megabits;

  @Option(
      names = "--delay",
      defaultValue = "150",
      paramLabel = "MS",
      description = "how long each direction takes (default: ${DEFAULT-VALUE})")
  private int delayMillis;

  @Option(
      names = "--large",
      defaultValue = "3000000",
      paramLabel = "BYTES",
      description =
          "what each writes a second into registers of 1 KB to 1 MB (default: ${DEFAULT-VALUE})")
  private long largeBytes;

  @Option(names = "--seed", defaultValue = "1", description = "of keys, sizes and jitter")
  private long seed;

  @Option(names = "--json", paramLabel = "FILE", description = "write the result as JSON")
  private File jsonFile;

  @Option(names = "--keep-logs", description = "keep the processes' logs and data")
  private boolean keepLogs;

  private final Map<String, Long> heapMax = new TreeMap<>();
  private long startNanos;

  /** For picocli. */
  public SoakCommand() {}

  @Override
  public Integer call() throws IOException {
    if (seconds < 10 || heapMebibytes < 64 || megabits < 1 || delayMillis < 0 || largeBytes < 1) {
      System.err.println(
          "--seconds must be at least 10, --heap 64, --mbit 1, --delay 0 and --large 1");
      return 2;
    }
    Path directory = Files.createTempDirectory("osier-soak");
    startNanos = System.nanoTime();
    say("starting three datacenters with " + heapMebibytes + " MiB of heap; logs in " + directory);
    boolean good = false;
    try (LocalCluster cluster =
        new ClusterSettings(directory, SoakLoad.KEYSPACES)
            .heap("-Xmx" + heapMebibytes + "m")
            .links(new WanQuality(delayMillis, JITTER_MILLIS, megabits * 125_000L))
            .seed(seed)
            .start()) {
      cluster.awaitReady(Duration.ofMinutes(2));
      good = run(cluster);
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.getMessage());
    } finally {
      if (good && !keepLogs) {
        Directories.delete(directory);
      } else {
        say("logs are kept in " + directory);
      }
    }
    return good ? 0 : 1;
  }

  private void say(String text) {
    double at = (System.nanoTime() - startNanos) / 1e9;
    System.out.printf(Locale.ROOT, "%6.1f s  %s%n", at, text);
  }

  private boolean run(LocalCluster cluster) throws IOException {
    try (SoakLoad load = new SoakLoad(cluster, STAY, largeBytes, seed)) {
      say("running the load for " + seconds + " s");
      disturb(cluster, load);
      say("the load ends");
      load.stop();
      say("waiting until the datacenters are equal");
      long since = System.nanoTime();
      boolean equal = awaitEqual(cluster);
      double secondsUntilEqual = (System.nanoTime() - since) / 1e9;
      look(cluster, load);
      say("reading every object at every datacenter");
      List<String> dead = dead(cluster);
      Verdict verdict =
          new Verdict(
              dead,
              equal,
              dead.isEmpty() ? load.audit(cluster) : new SoakLoad.Audit(0, 0, 0),
              Connections.of(cluster.directory(), cluster.dcs()),
              AWAY,
              heapMax,
              (long) heapMebibytes << 20);
      report(cluster, load, verdict, secondsUntilEqual);
      return verdict.faults().isEmpty();
    }
  }

  private static List<String> dead(LocalCluster cluster) {
    return cluster.dcs().stream().filter(dc -> !cluster.isAlive(dc)).toList();
  }

  /** Cuts one off, joins it again, and looks at all now and then. */
  private void disturb(LocalCluster cluster, SoakLoad load) {
    long began = System.nanoTime();
    boolean cut = false;
    boolean healed = false;
    int looks = 0;
    double at = 0;
    while (at < 1 && dead(cluster).isEmpty()) {
      LockSupport.parkNanos(100_000_000);
      at = (System.nanoTime() - began) / 1e9 / seconds;
      if (!cut && at >= CUT_FROM) {
        STAY.forEach(dc -> cluster.cut(dc, AWAY));
        cut = true;
        say("--- " + AWAY + " is cut off ---");
      }
      if (!healed && at >= CUT_TO) {
        STAY.forEach(dc -> cluster.heal(dc, AWAY));
        healed = true;
        say("--- " + AWAY + " can be reached again ---");
      }
      if (at * LOOKS >= looks + 1) {
        looks++;
        look(cluster, load);
      }
    }
  }

  private void look(LocalCluster cluster, SoakLoad load) {
    StringBuilder heaps = new StringBuilder();
    for (String dc : cluster.dcs()) {
      LiveHeap.bytes(cluster.pid(dc))
          .ifPresent(
              bytes -> {
                heapMax.merge(dc, bytes, Math::max);
                heaps.append(String.format(Locale.ROOT, " %s %.0f", dc, bytes / 1e6));
              });
    }
    say(
        String.format(
            Locale.ROOT,
            "%,d updates, %,.1f MB of large values; links carried %,.1f MB; heap in MB:%s",
            load.done(),
            load.largeBytes() / 1e6,
            cluster.wanBytes() / 1e6,
            heaps));
  }

  private boolean awaitEqual(LocalCluster cluster) {
    try {
      Duration atMost = Duration.ofSeconds(Math.max(120, seconds / 2));
      return Contents.awaitEqual(cluster, atMost, this::say);
    } catch (OsierException e) {
      say(e.getMessage());
      return false;
    }
  }

  private void report(
      LocalCluster cluster, SoakLoad load, Verdict verdict, double secondsUntilEqual)
      throws IOException {
    Figures figures = Figures.of(cluster);
    ObjectMapper mapper = new ObjectMapper();
    ObjectNode result = mapper.createObjectNode();
    result.put("seconds", seconds);
    result.put("acknowledged_updates", load.done());
    result.put("failed_or_unknown", load.failures());
    result.put("large_bytes", load.largeBytes());
    result.put("wan_bytes", cluster.wanBytes());
    result.put("seconds_until_equal", secondsUntilEqual);
    result.put("equal", verdict.equal());
    result.put("objects_different", verdict.audit().different());
    result.put("missing_acknowledged", verdict.audit().missing());
    result.put("surplus_updates", verdict.audit().surplus());
    result.put("heap_limit_bytes", verdict.heapLimit());
    verdict.heapMax().forEach(result.putObject("heap_bytes_max")::put);
    verdict.connections().forEach(result.putObject("connections")::put);
    ObjectNode resident = result.putObject("resident_mib");
    cluster.dcs().forEach(dc -> resident.put(dc, cluster.residentMebibytes(dc)));
    result.put("gaps_seen", figures.sum("gaps_seen"));
    result.put("healed_through_third", figures.sum("healed"));
    result.put("datacenters_cpu_seconds", cluster.cpu().toMillis() / 1e3);
    verdict.faults().forEach(result.putArray("faults")::add);
    if (jsonFile != null) {
      mapper.writerWithDefaultPrettyPrinter().writeValue(jsonFile, result);
    }
    System.out.println();
    result.properties().forEach(e -> System.out.printf("%-24s %s%n", e.getKey(), e.getValue()));
    System.out.println();
    verdict.faults().forEach(fault -> say("FAILED: " + fault));
    if (verdict.faults().isEmpty()) {
      say("nothing grew, flapped or was lost");
    }
  }
}
