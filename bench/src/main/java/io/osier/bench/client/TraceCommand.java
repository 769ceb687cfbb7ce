package io.osier.bench.client;

import com.sun.net.httpserver.HttpServer;
import io.osier.bench.cluster.Directories;
import io.osier.bench.experiment.Experiment;
import io.osier.bench.experiment.Plots;
import io.osier.bench.experiment.Results;
import io.osier.core.net.Ports;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import picocli.CommandLine.Command;

/** What it costs that updates are followed by traces. */
@Command(
    name = "trace",
    mixinStandardHelpOptions = true,
    description = {
      "Measures updates of counters at one datacenter process on loopback, which has a peer, in"
          + " turns",
      "with osier.trace.sample 0, 0.001 and 1; a receiver in this process takes the spans."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:measured", "1:it could not be run", "2:wrong usage"})
public final class TraceCommand extends Experiment {
  private static final int IN_FLIGHT = 256;
  private static final String WORKLOAD = IN_FLIGHT + " in flight";
  private static final String RATE = "operations/s";
  private static final List<String> SAMPLES = List.of("0", "0.001", "1");

  /** For picocli. */
  public TraceCommand() {}

  /** Two datacenter processes, and a client of the first. */
  private static CounterSide side(Path directory, String sample, String endpoint)
      throws IOException, InterruptedException {
    int port = Ports.free();
    int[] peerPorts = {Ports.free(), Ports.free()};
    List<String> configs = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      configs.add(
          """
          osier {
            dc = %s
            cluster = "sample-%s"
            listen { client-port = %d, peer-port = %d }
            peers { one = "127.0.0.1:%d", two = "127.0.0.1:%d" }
            store { dir = "" }
            trace { sample = %s, endpoint = "%s" }
            keyspaces { %s { sla = 2s } }
          }
          """
              .formatted(
                  i == 0 ? "one" : "two",
                  sample,
                  i == 0 ? port : Ports.free(),
                  peerPorts[i],
                  peerPorts[0],
                  peerPorts[1],
                  sample,
                  endpoint,
                  CounterSide.KEYSPACE));
    }
    return new CounterSide(directory, "sample-" + sample, configs, port, Optional.empty());
  }

  @Override
  protected void measure(Results results) throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("osier-trace");
    System.out.println("logs in " + directory);
    LongAdder taken = new LongAdder();
    HttpServer receiver = receiver(taken);
    String endpoint = "http://127.0.0.1:" + receiver.getAddress().getPort();
    Map<String, CounterSide> sides = new LinkedHashMap<>();
    try {
      for (String sample : SAMPLES) {
        sides.put(sample, side(directory, sample, endpoint));
      }
      System.out.println("warming up");
      for (int i = 0; i < 3; i++) {
        for (CounterSide side : sides.values()) {
          side.run(IN_FLIGHT, quick() ? 4 : 10);
        }
      }
      for (int round = 1; round <= (quick() ? 2 : 8); round++) {
        double off = 0;
        for (Map.Entry<String, CounterSide> one : sides.entrySet()) {
          String sample = one.getKey();
          CounterSide side = one.getValue();
          long before = taken.sum();
          double rate = side.run(IN_FLIGHT, quick() ? 3 : 10).perSecond();
          results.add(WORKLOAD, "sample " + sample, RATE, rate);
          off = off == 0 ? rate : off;
          System.out.printf(
              Locale.ROOT,
              "sample %-6s %,10.0f/s (%+6.2f %%), %,d KiB of spans%n",
              sample,
              rate,
              100 * (rate / off - 1),
              (taken.sum() - before) >> 10);
        }
      }
    } finally {
      sides.values().forEach(CounterSide::close);
      receiver.stop(0);
    }
    System.out.println();
    System.out.println(results.table(WORKLOAD));
    Directories.delete(directory);
  }

  /** Takes whatever comes. */
  private static HttpServer receiver(LongAdder bytes) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/v1/traces",
        exchange -> {
          bytes.add(exchange.getRequestBody().readAllBytes().length);
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    server.start();
    return server;
  }

  @Override
  protected void plot(Plots plots) throws IOException {
    plots.bars("trace-rate", "What it costs that updates are followed by traces", RATE);
  }
}
