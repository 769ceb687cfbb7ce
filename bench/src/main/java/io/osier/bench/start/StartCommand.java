package io.osier.bench.start;

import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.FirstAnswer;
import io.osier.core.OsierException;
import io.osier.core.net.Ports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Measures how long the distribution's launcher takes until a client's request is answered. */
@Command(
    name = "start",
    mixinStandardHelpOptions = true,
    description = {
      "Starts a datacenter of the distribution again and again, with its start cache and without,"
          + " and",
      "measures the time from the launcher's start to a client's first answered update. The store"
          + " is",
      "kept from one start to the next; each datacenter is stopped in between (--kill: as by kill"
          + " -9).",
      "",
      "Build the distribution and unpack it first: mvn -B -DskipTests package, tar xzf"
          + " datacenter/target/osier-*.tar.gz"
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:measured", "1:it could not be started", "2:wrong usage"})
public final class StartCommand implements Callable<Integer> {
  private static final long START_SECONDS_MAX = 120;

  @Option(
      names = "--distribution",
      required = true,
      paramLabel = "FOLDER",
      description = "the unpacked distribution")
  private Path distribution;

  @Option(
      names = "--starts",
      defaultValue = "7",
      paramLabel = "N",
      description = "starts of each kind (default: ${DEFAULT-VALUE})")
  private int starts;

  @Option(names = "--kill", description = "kill each datacenter instead of stopping it")
  private boolean kill;

  private final List<String> told = new ArrayList<>();

  /** For picocli. */
  public StartCommand() {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path launcher = distribution.resolve("bin/osier").toAbsolutePath();
    if (starts < 1 || !Files.isExecutable(launcher)) {
      System.err.println(
          starts < 1 ? "--starts must be at least 1" : "there is no program " + launcher);
      return 2;
    }
    Path directory = Files.createTempDirectory("osier-start");
    try {
      System.out.printf("%-12s %8s %8s %8s%n", "start cache", "median", "least", "most");
      measure(directory.resolve("off"), launcher, "off");
      measure(directory.resolve("on"), launcher, directory.resolve("cache").toString());
      System.out.println("\nthe last start of each kind, by its own log:");
      told.forEach(System.out::println);
      return 0;
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.getMessage());
      return 1;
    } catch (IOException e) {
      System.err.println("error: " + e.getMessage());
      return 1;
    } finally {
      Directories.delete(directory);
    }
  }

  private void measure(Path directory, Path launcher, String cache)
      throws IOException, InterruptedException {
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
    List<Double> seconds = new ArrayList<>();
    for (int i = 0; i <= starts; i++) {
      ProcessBuilder builder =
          new ProcessBuilder(launcher.toString(), "server", "--config", config.toString())
              .redirectErrorStream(true)
              .redirectOutput(log.toFile());
      builder.environment().put("OSIER_CACHE", cache);
      long began = System.nanoTime();
      Process process = builder.start();
      try {
        double took = FirstAnswer.seconds(process, "eu", port, "shop", began, log);
        if (i > 0) { // the first one makes the store, and the cache
          seconds.add(took);
        }
        LockSupport.parkNanos(200_000_000); // so that it has said what took how long
      } finally {
        if (kill) {
          process.destroyForcibly();
        } else {
          process.destroy();
        }
        process.waitFor(START_SECONDS_MAX, TimeUnit.SECONDS);
      }
    }
    Collections.sort(seconds);
    System.out.printf(
        Locale.ROOT,
        "%-12s %6.2f s %6.2f s %6.2f s%n",
        cache.equals("off") ? "without" : "with",
        seconds.get(seconds.size() / 2),
        seconds.getFirst(),
        seconds.getLast());
    Files.readAllLines(log).stream().filter(l -> l.contains("after its start")).forEach(told::add);
  }
}
