package io.osier.datacenter.cli.command;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.net.Ports;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.server.Datacenter;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * Does once, within seconds, what a datacenter and the command line do all the time, so that Java
 * can record the classes that they load. The launcher runs it to make its start cache.
 *
 * <p>It runs two small datacenters on loopback that replicate with each other, a client of both,
 * and commands of the command line. One datacenter is started as {@code osier server} does it, the
 * other one twice, so that it recovers its store. Only the files in the given directory outlive the
 * process.
 */
@Command(
    name = "train",
    hidden = true,
    description = "Runs what is used at every start, for the launcher's start cache.")
public final class TrainCommand implements Callable<Integer> {
  private static final Duration START_MAX = Duration.ofSeconds(60);

  /** The class with which Netty logs if {@link QuietLogs} is installed. */
  private static final String NETTY_LOGGER = "io.netty.util.internal.logging.Slf4JLogger";

  private static final List<String> COMMANDS =
      List.of(
          "counter incr c 2",
          "counter get c",
          "set add s a b",
          "register set r v",
          "get s",
          "scan",
          "stat",
          "hot",
          "why");

  @Parameters(paramLabel = "DIRECTORY", description = "where the datacenters keep their data")
  private Path directory;

  @Override
  public Integer call() throws IOException, InterruptedException {
    OutOfMemoryExit.install("error OUT_OF_MEMORY: the start cache is not made");
    int euPort = Ports.free();
    int usPort = Ports.free();
    int clientPort = Ports.free();
    int adminPort = Ports.free();
    Files.createDirectories(directory);
    Path file = directory.resolve("eu.conf");
    Files.writeString(file, configuration("eu", euPort, "us", usPort, clientPort, adminPort));
    // Closed when the process exits.
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                new ServerCommand(file.toFile(), Map.of()).call();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    String us = configuration("us", usPort, "eu", euPort, 0, 0);
    start(us).close();
    try (Datacenter again = start(us);
        OsierClient client =
            OsierClient.builder()
                .name("train")
                .endpoint("eu", "127.0.0.1:" + clientPort)
                .endpoint("us", "127.0.0.1:" + again.clientPort())
                .build()) {
      client.awaitConnected(START_MAX);
      awaitReady(again);
      call("127.0.0.1:" + clientPort);
      scrape(adminPort);
      return 0;
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.reason());
      return 1;
    }
  }

  /**
   * Runs commands as the command line does, which logs nothing: the rest of the training logs with
   * another class.
   */
  private static void call(String address) {
    new QuietLogs().getLoggerFactory().getLogger(NETTY_LOGGER).info(address);
    try {
      Class.forName(NETTY_LOGGER);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(
          "this version of Netty has no class of its own for loggers", e);
    }
    for (String form : List.of("text", "json")) {
      for (String command : COMMANDS) {
        List<String> arguments = new ArrayList<>(List.of("--connect", address));
        if (form.equals("json")) {
          arguments.add("--json");
        }
        arguments.addAll(List.of(command.split(" ")));
        if (CliCommand.plain(arguments).orElseThrow().call() != 0) {
          throw new OsierException(ErrorCode.INTERNAL, "the command failed: " + command);
        }
      }
    }
  }

  private static Datacenter start(String configuration) {
    return Datacenter.start(
        ConfigReader.read("the start cache's configuration", configuration, Map.of()));
  }

  private String configuration(
      String dc, int peerPort, String peer, int atPort, int clientPort, int adminPort) {
    return """
    osier {
      dc = %s, cluster = train
      listen { client-port = %d, peer-port = %d }
      admin { enabled = true, port = %d }
      peers { %s = "127.0.0.1:%d" }
      store { dir = "%s", min-free = 64MiB }
      keyspaces { train { sla = 50ms } }
    }
    """
        .formatted(
            dc,
            clientPort,
            peerPort,
            adminPort,
            peer,
            atPort,
            directory.toAbsolutePath().toString().replace("\\", "\\\\").replace("\"", "\\\""));
  }

  private static void awaitReady(Datacenter datacenter) throws InterruptedException {
    long deadline = System.nanoTime() + START_MAX.toNanos();
    while (!datacenter.isReady() && System.nanoTime() < deadline) {
      Thread.sleep(10);
    }
  }

  /** Requests what a monitoring system requests. */
  private static void scrape(int adminPort) throws IOException, InterruptedException {
    try (HttpClient http = HttpClient.newHttpClient()) {
      for (String path : List.of("/metrics", "/health")) {
        http.send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + adminPort + path)).build(),
            HttpResponse.BodyHandlers.discarding());
      }
    }
  }
}
