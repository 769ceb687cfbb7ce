package io.osier.bench.client;

import com.sun.net.httpserver.HttpServer;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.Jvm;
import io.osier.bench.cluster.Ports;
import io.osier.bench.experiment.Experiment;
import io.osier.bench.experiment.Plots;
import io.osier.bench.experiment.Results;
import io.osier.proxy.CounterHandle;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
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
  private static final String KEYSPACE = "counters";
  private static final int COUNTERS = 1_000;
  private static final int IN_FLIGHT = 256;
  private static final String WORKLOAD = IN_FLIGHT + " in flight";
  private static final String RATE = "operations/s";
  private static final List<String> SAMPLES = List.of("0", "0.001", "1");

  /** For picocli. */
  public TraceCommand() {}

  /** Two datacenter processes, and a client of the first. */
  private static final class Side implements AutoCloseable {
    private final String sample;
    private final List<Process> processes = new ArrayList<>();
    private final OsierClient client;
    private final Driver.Target updates;

    Side(Path directory, String sample, String endpoint) throws IOException, InterruptedException {
      this.sample = sample;
      int port = Ports.free();
      int[] peerPorts = {Ports.free(), Ports.free()};
      for (int i = 0; i < 2; i++) {
        String name = i == 0 ? "one" : "two";
        Path config = directory.resolve(name + "-" + sample + ".conf");
        Files.writeString(
            config,
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
                    name,
                    sample,
                    i == 0 ? port : Ports.free(),
                    peerPorts[i],
                    peerPorts[0],
                    peerPorts[1],
                    sample,
                    endpoint,
                    KEYSPACE));
        processes.add(
            Jvm.start(
                directory.resolve(name + "-" + sample + ".log"),
                "-Xmx512m",
                "server",
                "--config",
                config.toString()));
      }
      client = OsierClient.builder().name("bench").endpoint("one", "127.0.0.1:" + port).build();
      client.awaitConnected(Duration.ofSeconds(60));
      Keyspace space = client.session().keyspace(KEYSPACE);
      List<CounterHandle> counters = new ArrayList<>();
      for (int i = 0; i < COUNTERS; i++) {
        counters.add(space.counter("counter-" + i));
      }
      AtomicInteger next = new AtomicInteger();
      updates =
          done ->
              counters
                  .get(Math.floorMod(next.getAndIncrement(), COUNTERS))
                  .incrementAsync(1)
                  .whenComplete((result, error) -> done.done(error == null));
    }

    @Override
    public void close() {
      client.close();
      processes.forEach(Process::destroy);
    }
  }

  @Override
  protected void measure(Results results) throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("osier-trace");
    System.out.println("logs in " + directory);
    LongAdder taken = new LongAdder();
    HttpServer receiver = receiver(taken);
    String endpoint = "http://127.0.0.1:" + receiver.getAddress().getPort();
    List<Side> sides = new ArrayList<>();
    try {
      for (String sample : SAMPLES) {
        sides.add(new Side(directory, sample, endpoint));
      }
      System.out.println("warming up");
      for (int i = 0; i < 3; i++) {
        for (Side side : sides) {
          Driver.run(side.updates, IN_FLIGHT, 0, quick() ? 4 : 10);
        }
      }
      for (int round = 1; round <= (quick() ? 2 : 8); round++) {
        double off = 0;
        for (Side side : sides) {
          long before = taken.sum();
          double rate = Driver.run(side.updates, IN_FLIGHT, 0, quick() ? 3 : 10).perSecond();
          results.add(WORKLOAD, "sample " + side.sample, RATE, rate);
          off = off == 0 ? rate : off;
          System.out.printf(
              Locale.ROOT,
              "sample %-6s %,10.0f/s (%+6.2f %%), %,d KiB of spans%n",
              side.sample,
              rate,
              100 * (rate / off - 1),
              (taken.sum() - before) >> 10);
        }
      }
    } finally {
      sides.forEach(Side::close);
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
