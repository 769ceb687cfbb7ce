package io.osier.bench.client;

import io.osier.bench.cluster.Directories;
import io.osier.bench.experiment.Experiment;
import io.osier.bench.experiment.Plots;
import io.osier.bench.experiment.Results;
import io.osier.core.net.Ports;
import io.osier.core.tls.TlsName;
import io.osier.datacenter.cli.CertificateMaker;
import io.osier.proxy.OsierClient;
import io.osier.proxy.TlsOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.Command;

/** What TLS costs. */
@Command(
    name = "tls",
    mixinStandardHelpOptions = true,
    description = {
      "Measures updates of counters at one datacenter process on loopback, in turns without TLS,",
      "with it, and with a certificate that the client shows; then connections a second."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:measured", "1:it could not be run", "2:wrong usage"})
public final class TlsCommand extends Experiment {
  private static final String RATE = "operations/s";
  private static final String LATENCY = "p50 µs";
  private static final String CONNECTIONS = "connections/s";
  private static final List<Integer> IN_FLIGHT = List.of(256, 1);

  /** For picocli. */
  public TlsCommand() {}

  private enum Way {
    PLAIN("without TLS"),
    TLS("with TLS"),
    MUTUAL("both show a certificate");

    private final String text;

    Way(String text) {
      this.text = text;
    }
  }

  private record Alternative(Way way, CounterSide side, int port) {}

  private static String config(Path certs, Way way, int port) {
    String tls =
        way == Way.PLAIN
            ? ""
            : """
            tls {
              certificate = "%s", key = "%s", authorities = "%s", client-certificates = %s
            }
            """
                .formatted(
                    certs.resolve("one.pem"),
                    certs.resolve("one.key"),
                    certs.resolve("authority.pem"),
                    way == Way.MUTUAL);
    return """
    osier {
      dc = one
      listen { client-port = %d, peer-port = %d }
      store { dir = "" }
      keyspaces { %s { sla = 2s } }
      %s
    }
    """
        .formatted(port, Ports.free(), CounterSide.KEYSPACE, tls);
  }

  private static Optional<TlsOptions> options(Path certs, Way way) {
    TlsOptions trusting = TlsOptions.DEFAULT.authorities(certs.resolve("authority.pem"));
    return switch (way) {
      case PLAIN -> Optional.empty();
      case TLS -> Optional.of(trusting);
      case MUTUAL ->
          Optional.of(
              trusting.certificate(certs.resolve("client.pem"), certs.resolve("client.key")));
    };
  }

  @Override
  protected void measure(Results results) throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("osier-tls");
    System.out.println("logs in " + directory);
    CertificateMaker.authority(directory, "osier", 2);
    CertificateMaker.signed(
        directory, "one", TlsName.ofDatacenter("osier", "one"), List.of("127.0.0.1"), 2);
    CertificateMaker.signed(directory, "client", TlsName.ofClient("osier", "client"), List.of(), 2);
    List<Alternative> alternatives = new ArrayList<>();
    try {
      for (Way way : Way.values()) {
        int port = Ports.free();
        CounterSide side =
            new CounterSide(
                directory,
                way.name(),
                List.of(config(directory, way, port)),
                port,
                options(directory, way));
        alternatives.add(new Alternative(way, side, port));
      }
      System.out.println("warming up");
      for (int i = 0; i < 3; i++) {
        for (Alternative one : alternatives) {
          one.side.run(IN_FLIGHT.getFirst(), quick() ? 4 : 10);
        }
      }
      for (int round = 1; round <= (quick() ? 2 : 5); round++) {
        for (int inFlight : IN_FLIGHT) {
          for (Alternative one : alternatives) {
            updates(results, one.way, one.side, inFlight);
          }
        }
        for (Alternative one : alternatives) {
          connections(results, one.way, one.port, options(directory, one.way));
        }
      }
    } finally {
      alternatives.forEach(one -> one.side.close());
    }
    System.out.println();
    for (int inFlight : IN_FLIGHT) {
      System.out.println(results.table(workload(inFlight)));
    }
    System.out.println(results.table(CONNECTIONS));
    Directories.delete(directory);
  }

  private static String workload(int inFlight) {
    return inFlight + " in flight";
  }

  private void updates(Results results, Way way, CounterSide side, int inFlight)
      throws InterruptedException {
    Duration before = side.cpu();
    Driver.Outcome outcome = side.run(inFlight, quick() ? 3 : 10);
    double cpu =
        side.cpu().minus(before).toNanos() / 1e3 / Math.max(1, outcome.nanos().getTotalCount());
    double micros = outcome.nanos().getValueAtPercentile(50) / 1e3;
    results.add(workload(inFlight), way.text, RATE, outcome.perSecond());
    results.add(workload(inFlight), way.text, LATENCY, micros);
    results.add(workload(inFlight), way.text, CounterSide.CPU, cpu);
    System.out.printf(
        Locale.ROOT,
        "%-24s %3d in flight %,10.0f/s, p50 %,6.0f µs, server %.1f µs each%n",
        way.text,
        inFlight,
        outcome.perSecond(),
        micros,
        cpu);
  }

  /** Clients one after the other, each with a connection of its own: the time of both ends. */
  private void connections(Results results, Way way, int port, Optional<TlsOptions> tls) {
    int clients = quick() ? 30 : 200;
    long start = System.nanoTime();
    for (int i = 0; i < clients; i++) {
      OsierClient.Builder builder = OsierClient.builder().endpoint("one", "127.0.0.1:" + port);
      tls.ifPresent(builder::tls);
      try (OsierClient client = builder.build()) {
        client.awaitConnected(Duration.ofSeconds(60));
      }
    }
    double rate = clients * 1e9 / (System.nanoTime() - start);
    results.add(CONNECTIONS, way.text, CONNECTIONS, rate);
    System.out.printf(Locale.ROOT, "%-24s %,10.0f connections/s%n", way.text, rate);
  }

  @Override
  protected void plot(Plots plots) throws IOException {
    plots.bars("tls-rate", "What TLS costs", RATE);
  }
}
