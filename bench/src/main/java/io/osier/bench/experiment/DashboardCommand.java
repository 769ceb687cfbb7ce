package io.osier.bench.experiment;

import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.CounterLoad;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.LocalCluster;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What an open dashboard costs. */
@Command(
    name = "dashboard",
    mixinStandardHelpOptions = true,
    description = {
      "Measures what an open dashboard costs: updates of counters at three datacenters, so many a"
          + " second",
      "that a processor is left; in turns nobody looks, and viewers look at every datacenter."
          + " Prints the",
      "updates a second and the datacenters' processor time for each update, and by how much"
          + " looking",
      "changes them."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:measured", "1:it could not be run", "2:wrong usage"})
public final class DashboardCommand implements Callable<Integer> {
  private static final int ELEMENTS_MAX = 5_000;

  @Option(
      names = "--seconds",
      defaultValue = "10",
      paramLabel = "N",
      description = "how long each turn is (default: ${DEFAULT-VALUE})")
  private int seconds;

  @Option(
      names = "--rounds",
      defaultValue = "6",
      paramLabel = "N",
      description = "how often both are measured (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Option(
      names = "--viewers",
      defaultValue = "1",
      paramLabel = "N",
      description = "how many look at each datacenter, 1 to 16 (default: ${DEFAULT-VALUE})")
  private int viewers;

  @Option(
      names = "--warm-up",
      defaultValue = "30",
      paramLabel = "SECONDS",
      description = "for how long the load runs before (default: ${DEFAULT-VALUE})")
  private int warmUp;

  @Option(
      names = "--rate",
      defaultValue = "60000",
      paramLabel = "N",
      description = "updates a second, 0 for as many as are answered (default: ${DEFAULT-VALUE})")
  private int rate;

  /** For picocli. */
  public DashboardCommand() {}

  /** One turn. */
  private record Turn(double updatesPerSecond, double cpuMicros) {}

  @Override
  public Integer call() throws IOException {
    if (seconds < 1 || rounds < 1 || viewers < 1 || viewers > 16 || warmUp < 0 || rate < 0) {
      System.err.println(
          "--seconds and --rounds must be at least 1, --viewers 1 to 16, --warm-up and --rate at"
              + " least 0");
      return 2;
    }
    Path directory = Files.createTempDirectory("osier-dashboard");
    List<Turn> alone = new ArrayList<>();
    List<Turn> watched = new ArrayList<>();
    AtomicLong bytes = new AtomicLong();
    try (LocalCluster cluster =
        new ClusterSettings(directory, "    k { sla = 2s }\n")
            .store("dir = \"\"")
            .heap("-Xmx1g")
            .admin()
            .start()) {
      cluster.awaitReady(Duration.ofSeconds(60));
      try (CounterLoad load = load(cluster)) {
        System.out.println("warming up for " + warmUp + " s");
        LockSupport.parkNanos(warmUp * 1_000_000_000L);
        for (int round = 0; round < rounds; round++) {
          // Each first in turn: a machine that becomes slower does so for both.
          for (int i = 0; i < 2; i++) {
            if ((i + round) % 2 == 0) {
              alone.add(measure(cluster, load));
            } else {
              try (Viewers looking = new Viewers(cluster, viewers, bytes)) {
                watched.add(measure(cluster, load));
              }
            }
          }
          print("round " + (round + 1), alone.getLast(), watched.getLast());
        }
        load.stop();
      }
    }
    Directories.delete(directory);
    print("median", median(alone), median(watched));
    System.out.printf(
        Locale.ROOT,
        "a viewer gets %.1f kB a second%n",
        bytes.get() / 1e3 / ((double) rounds * seconds * viewers * 3));
    return bytes.get() > 0 ? 0 : 1;
  }

  /** Sets that grew would make each turn slower than the one before. */
  private CounterLoad load(LocalCluster cluster) {
    int perSecond = rate == 0 ? Integer.MAX_VALUE : rate;
    return new CounterLoad(cluster.dcs(), cluster::client, "k", "", perSecond, ELEMENTS_MAX, 1);
  }

  private Turn measure(LocalCluster cluster, CounterLoad load) {
    LockSupport.parkNanos(1_000_000_000L); // until what belongs to the turn before is over
    long done = load.done();
    Duration cpu = cluster.cpu();
    long start = System.nanoTime();
    LockSupport.parkNanos(seconds * 1_000_000_000L);
    double took = (System.nanoTime() - start) / 1e9;
    long updates = Math.max(1, load.done() - done);
    return new Turn(updates / took, cluster.cpu().minus(cpu).toNanos() / 1e3 / updates);
  }

  private static Turn median(List<Turn> turns) {
    return new Turn(
        middle(turns.stream().mapToDouble(Turn::updatesPerSecond).sorted().toArray()),
        middle(turns.stream().mapToDouble(Turn::cpuMicros).sorted().toArray()));
  }

  private static double middle(double[] sorted) {
    int half = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }

  private static void print(String what, Turn alone, Turn watched) {
    System.out.printf(
        Locale.ROOT,
        "%s: nobody looks %,.0f updates/s, %.1f us; somebody looks %,.0f updates/s, %.1f us: %+.1f"
            + " %%, processor time %+.1f %%%n",
        what,
        alone.updatesPerSecond,
        alone.cpuMicros,
        watched.updatesPerSecond,
        watched.cpuMicros,
        100 * (watched.updatesPerSecond / alone.updatesPerSecond - 1),
        100 * (watched.cpuMicros / alone.cpuMicros - 1));
  }

  /** Read the events of every datacenter, as browsers do, and draw nothing. */
  private static final class Viewers implements AutoCloseable {
    private final HttpClient http = HttpClient.newHttpClient();
    private final List<InputStream> streams = new ArrayList<>();

    Viewers(LocalCluster cluster, int each, AtomicLong bytes) {
      for (String dc : cluster.dcs()) {
        URI events = URI.create(cluster.dashboard(dc) + "dashboard/events");
        for (int i = 0; i < each; i++) {
          InputStream stream =
              http.sendAsync(
                      HttpRequest.newBuilder(events).build(),
                      HttpResponse.BodyHandlers.ofInputStream())
                  .join()
                  .body();
          streams.add(stream);
          Thread.ofVirtual().start(() -> read(stream, bytes));
        }
      }
    }

    private static void read(InputStream stream, AtomicLong bytes) {
      byte[] buffer = new byte[64 << 10];
      try {
        for (int n = stream.read(buffer); n >= 0; n = stream.read(buffer)) {
          bytes.addAndGet(n);
        }
      } catch (IOException e) {
        // Closed: the turn is over.
      }
    }

    @Override
    public void close() {
      for (InputStream stream : streams) {
        try {
          stream.close();
        } catch (IOException e) {
          // It ends all the same.
        }
      }
      http.shutdownNow();
    }
  }
}
