package io.osier.bench.history;

import io.osier.bench.cluster.ClientLinks;
import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.Durability;
import io.osier.bench.cluster.LocalCluster;
import io.osier.core.OsierException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Random transactions at three datacenters under faults, written down for independent checkers. */
@Command(
    name = "history",
    mixinStandardHelpOptions = true,
    description = {
      "Runs random reads and writes of registers at three real datacenters: single ones,"
          + " transactions,",
      "aborted ones, calls that do not wait for each other, snapshots of the past, writes of the"
          + " same at",
      "one instant; in sessions that move and hand their clocks on; while links between datacenters"
          + " and to",
      "clients are cut, and datacenters killed and stopped, several faults at once. In the end"
          + " everything",
      "is read everywhere. What clients did and",
      "saw is checked for causal consistency, and for one order of all transactions by which the"
          + " last",
      "writer wins, by the definitions. It can go into a text file, a line an operation:",
      "r(key,value,session,txn) or w(key,value,session,txn). All are integers, every value is"
          + " written",
      "once, value 0 means never written, -1 what was aborted; transactions of a session are in"
          + " their",
      "order; one of unknown outcome is the last of its session. Calls that do not wait for each"
          + " other,",
      "and snapshots of the past, are in sessions of their own."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:the history is causally consistent",
      "1:it is not, or it could not be run",
      "2:wrong usage"
    })
public final class HistoryCommand implements Callable<Integer> {
  private static final Duration START = Duration.ofSeconds(60);

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description = "where the history goes (default: no file, it is only checked)")
  private Path out;

  @Option(
      names = "--seconds",
      defaultValue = "30",
      paramLabel = "N",
      description = "how long to run, at least 5 (default: ${DEFAULT-VALUE})")
  private int seconds;

  @Option(
      names = "--sessions",
      defaultValue = "9",
      paramLabel = "N",
      description = "how many sessions at a time, 1 to 100 (default: ${DEFAULT-VALUE})")
  private int sessions;

  @Option(
      names = "--keys",
      defaultValue = "30",
      paramLabel = "N",
      description = "how many registers, 1 to 10000 (default: ${DEFAULT-VALUE})")
  private int keys;

  @Option(
      names = "--rate",
      defaultValue = "150",
      paramLabel = "TXNS",
      description = "transactions per second to aim at (default: ${DEFAULT-VALUE})")
  private int rate;

  @Option(
      names = "--faults",
      defaultValue = "2",
      paramLabel = "N",
      description = "how many faults at once, 0 to 10 (default: ${DEFAULT-VALUE})")
  private int faults;

  @Option(
      names = "--durability",
      defaultValue = "sync",
      paramLabel = "HOW",
      description = "sync, async, none or memory (default: ${DEFAULT-VALUE})")
  private Durability durability;

  @Option(names = "--seed", defaultValue = "0", description = "seed of what is done; 0 draws one")
  private long seed;

  /** For picocli. */
  public HistoryCommand() {}

  @Override
  public Integer call() throws IOException {
    boolean usable =
        seconds >= 5
            && sessions >= 1
            && sessions <= 100
            && keys >= 1
            && keys <= 10_000
            && rate >= 1
            && faults >= 0
            && faults <= 10;
    if (!usable) {
      System.err.println(
          "--seconds must be at least 5, --sessions 1 to 100, --keys 1 to 10000, --rate at least 1,"
              + " --faults 0 to 10");
      return 2;
    }
    long used = seed == 0 ? new Random().nextInt(1_000_000) : seed;
    Path directory = Files.createTempDirectory("osier-history");
    System.out.println("seed " + used + "; logs and data in " + directory);
    boolean good = false;
    try {
      good = run(directory, used);
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      if (good) {
        Directories.delete(directory);
      }
    }
    return good ? 0 : 1;
  }

  private boolean run(Path directory, long used) throws IOException, InterruptedException {
    Random random = new Random(used);
    try (LocalCluster cluster =
        new ClusterSettings(directory, HistoryLoad.KEYSPACES)
            .store(durability.setting())
            .seed(used)
            .start()) {
      cluster.awaitReady(START);
      try (ClientLinks links = new ClientLinks(cluster, used);
          HistoryLoad load =
              new HistoryLoad(cluster, links, sessions, keys, rate, durability.isLossy(), random)) {
        Duration time = Duration.ofSeconds(seconds);
        new Disturbances(cluster, links, load::broken).run(faults, time, random);
        load.stop();
        load.readAll(cluster);
        return report(load);
      }
    }
  }

  private boolean report(HistoryLoad load) throws IOException {
    if (out != null) {
      Files.write(out, load.history().lines());
    }
    List<String> violations = load.violations();
    violations.forEach(v -> System.out.println("VIOLATED: " + v));
    System.out.printf(
        Locale.ROOT,
        "%s: %s: %s%n",
        durability,
        load.summary(),
        violations.isEmpty() ? "causally consistent" : "NOT causally consistent");
    return violations.isEmpty();
  }
}
