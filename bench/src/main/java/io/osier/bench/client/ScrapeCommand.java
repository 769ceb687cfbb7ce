package io.osier.bench.client;

import io.osier.bench.cluster.Directories;
import io.osier.bench.experiment.Experiment;
import io.osier.bench.experiment.Plots;
import io.osier.bench.experiment.Results;
import io.osier.core.net.Ports;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import picocli.CommandLine.Command;

/** What it costs that somebody reads a datacenter's metrics. */
@Command(
    name = "scrape",
    mixinStandardHelpOptions = true,
    description = {
      "Measures updates of counters at one datacenter process on loopback, in turns without and"
          + " with",
      "somebody who reads /metrics every second, and with nobody and no admin port at all."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:measured", "1:it could not be run", "2:wrong usage"})
public final class ScrapeCommand extends Experiment {
  private static final int IN_FLIGHT = 256;
  private static final String WORKLOAD = IN_FLIGHT + " in flight";
  private static final String RATE = "operations/s";
  private static final String SCRAPED = "read every second";
  private static final String QUIET = "not read";
  private static final String NONE = "without the port";

  /** For picocli. */
  public ScrapeCommand() {}

  private static CounterSide side(Path directory, String name, int admin)
      throws IOException, InterruptedException {
    int port = Ports.free();
    String config =
        """
        osier {
          dc = %s
          cluster = %s
          listen { client-port = %d, peer-port = %d }
          admin { enabled = %s, port = %d }
          store { dir = "" }
          keyspaces { %s { sla = 2s } }
        }
        """
            .formatted(
                name,
                name,
                port,
                Ports.free(),
                admin > 0,
                Math.max(1, admin),
                CounterSide.KEYSPACE);
    return new CounterSide(directory, name, List.of(config), port, Optional.empty());
  }

  @Override
  protected void measure(Results results) throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("osier-scrape");
    System.out.println("logs in " + directory);
    int admin = Ports.free();
    try (CounterSide with = side(directory, "with", admin);
        CounterSide without = side(directory, "without", 0)) {
      System.out.println("warming up");
      for (int i = 0; i < 3; i++) {
        with.run(IN_FLIGHT, quick() ? 4 : 10);
        without.run(IN_FLIGHT, quick() ? 4 : 10);
      }
      double seconds = quick() ? 3 : 10;
      for (int round = 1; round <= (quick() ? 2 : 8); round++) {
        double none = rate(results, NONE, without, seconds);
        double quiet = rate(results, QUIET, with, seconds);
        double scraped;
        LongAdder scrapes = new LongAdder();
        ScheduledExecutorService reader = Executors.newSingleThreadScheduledExecutor();
        try (HttpClient http = HttpClient.newHttpClient()) {
          HttpRequest get =
              HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + admin + "/metrics")).build();
          reader.scheduleAtFixedRate(() -> scrapes.add(scrape(http, get)), 0, 1, TimeUnit.SECONDS);
          scraped = rate(results, SCRAPED, with, seconds);
        } finally {
          reader.shutdownNow();
        }
        System.out.printf(
            Locale.ROOT,
            "without the port %,10.0f/s; not read %,10.0f/s; read %d times %,10.0f/s (%+.2f %%)%n",
            none,
            quiet,
            scrapes.sum(),
            scraped,
            100 * (scraped / quiet - 1));
      }
    }
    System.out.println();
    System.out.println(results.table(WORKLOAD));
    Directories.delete(directory);
  }

  private static double rate(Results results, String alternative, CounterSide side, double seconds)
      throws InterruptedException {
    Duration before = side.cpu();
    Driver.Outcome outcome = side.run(IN_FLIGHT, seconds);
    double cpu =
        side.cpu().minus(before).toNanos() / 1e3 / Math.max(1, outcome.nanos().getTotalCount());
    results.add(WORKLOAD, alternative, RATE, outcome.perSecond());
    results.add(WORKLOAD, alternative, CounterSide.CPU, cpu);
    return outcome.perSecond();
  }

  /** How many scrapes it was: one, if the datacenter answered. */
  private static int scrape(HttpClient http, HttpRequest get) {
    try {
      HttpResponse<String> answer = http.send(get, HttpResponse.BodyHandlers.ofString());
      return answer.statusCode() == 200 && answer.body().contains("osier_updates_total") ? 1 : 0;
    } catch (IOException e) {
      return 0; // said by the number of scrapes
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 0;
    }
  }

  @Override
  protected void plot(Plots plots) throws IOException {
    plots.bars("scrape-rate", "What it costs that somebody reads the metrics", RATE);
  }
}
