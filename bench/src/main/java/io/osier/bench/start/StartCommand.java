package io.osier.bench.start;

import io.osier.bench.cluster.Directories;
import io.osier.bench.run.Results;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.net.Ports;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Measures the time and processor time from a launcher's start to a client's first answer. */
@Command(
    name = "start",
    mixinStandardHelpOptions = true,
    description = {
      "Starts a datacenter again and again, with its start cache and without, and "
          + "measures the clock and the processor time (user and system) from the launcher's "
          + "start to a client's first answered update. Each start has a new store.",
      "",
      "The launcher is ./osier, or bin/osier of the unpacked distribution, which mvn -B "
          + "-DskipTests package makes: tar xzf datacenter/target/osier-*.tar.gz."
    })
public final class StartCommand implements Callable<Integer> {
  private static final String TABLE = "start cache";
  private static final long START_SECONDS_MAX = 120;

  @Option(
      names = "--launcher",
      defaultValue = "osier",
      paramLabel = "FILE",
      description = "what is started (default: ./${DEFAULT-VALUE})")
  private Path launcher;

  @Option(
      names = "--starts",
      defaultValue = "7",
      paramLabel = "N",
      description = "starts of each kind (default: ${DEFAULT-VALUE})")
  private int starts;

  @Option(names = "--keep-store", description = "go on with the store of the start before")
  private boolean keepStore;

  @Option(names = "--kill", description = "kill each datacenter instead of stopping it")
  private boolean kill;

  private final Results results = new Results();
  private final List<String> told = new ArrayList<>();

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (starts < 1 || !Files.isExecutable(launcher)) {
      System.err.println(
          starts < 1 ? "--starts must be at least 1" : "there is no program " + launcher);
      return 2;
    }
    Path directory = Files.createTempDirectory("osier-start");
    try {
      measure(directory.resolve("off"), "off");
      measure(directory.resolve("on"), directory.resolve("cache").toString());
      System.out.println(results.table(TABLE) + "\n\nthe last start of each kind, by its own log:");
      told.forEach(System.out::println);
      return 0;
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.reason());
      return 1;
    } finally {
      Directories.delete(directory);
    }
  }

  private void measure(Path directory, String cache) throws IOException, InterruptedException {
    Files.createDirectories(directory);
    int port = Ports.free();
    Path config = directory.resolve("eu.conf");
    Files.writeString(
        config,
        """
        osier {
          dc = eu
          listen { client-port = %d, peer-port = 0 }
          store { dir = "%s" }
          keyspaces { shop { sla = 1s } }
        }
        """
            .formatted(port, directory.resolve("data")));
    Path log = directory.resolve("log");
    String label = cache.equals("off") ? "without" : "with";
    for (int i = 0; i <= starts; i++) {
      if (!keepStore && Files.exists(directory.resolve("data"))) {
        Directories.delete(directory.resolve("data"));
      }
      ProcessBuilder builder =
          new ProcessBuilder(
                  launcher.toAbsolutePath().toString(), "server", "--config", config.toString())
              .redirectErrorStream(true)
              .redirectOutput(log.toFile());
      builder.environment().put("OSIER_CACHE", cache);
      long began = System.nanoTime();
      Process process = builder.start();
      try {
        double took = firstAnswer(process, port, began, log);
        Duration cpu = process.info().totalCpuDuration().orElse(Duration.ZERO);
        if (i > 0) { // the first start makes the cache
          results.add(TABLE, label, "seconds", took);
          results.add(TABLE, label, "of processor", cpu.toNanos() / 1e9);
        }
        LockSupport.parkNanos(200_000_000); // until its log says what took how long
      } finally {
        if (kill) {
          process.destroyForcibly();
        } else {
          process.destroy();
        }
        process.waitFor(START_SECONDS_MAX, TimeUnit.SECONDS);
      }
    }
    Files.readAllLines(log).stream().filter(l -> l.contains("after its start")).forEach(told::add);
  }

  /** Seconds from the start of a process until it has answered an update of a counter. */
  private static double firstAnswer(Process process, int port, long beganNanos, Path log)
      throws IOException {
    long deadline = beganNanos + TimeUnit.SECONDS.toNanos(START_SECONDS_MAX);
    while (!isOpen(port)) { // so that no pause between a client's attempts is measured
      if (!process.isAlive() || System.nanoTime() > deadline) {
        throw new OsierException(
            ErrorCode.UNAVAILABLE, "it does not start: " + Files.readString(log));
      }
      LockSupport.parkNanos(1_000_000);
    }
    try (OsierClient client =
        OsierClient.builder().name("start").endpoint("eu", "127.0.0.1:" + port).build()) {
      client.awaitConnected(Duration.ofSeconds(START_SECONDS_MAX));
      client.session().keyspace("shop").counter("starts").increment(1);
      return (System.nanoTime() - beganNanos) / 1e9;
    }
  }

  private static boolean isOpen(int port) {
    try (Socket socket = new Socket("127.0.0.1", port)) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
    }
  }
}
