package io.osier.bench.client;

import io.osier.bench.client.OsierProcess.Durability;
import io.osier.bench.cluster.Directories;
import io.osier.bench.experiment.Experiment;
import io.osier.bench.experiment.Plots;
import io.osier.bench.experiment.Results;
import io.osier.bench.experiment.ServerOptions;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What others notice of a million objects that expire within one second. */
@Command(
    name = "ttl",
    mixinStandardHelpOptions = true,
    description = {
      "Measures what others notice when many objects of one datacenter process expire within one"
          + " second:",
      "reads and increments of other keys of the same keyspace, at a fixed rate, from when each was"
          + " due;",
      "before that second and from its begin until the datacenter has removed them and forgotten"
          + " that it has. Beside it",
      "redis-server with the same load, where it is installed. Fails if an expired object stays."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:measured",
      "1:it could not be run, or objects that had expired were still there or shown",
      "2:wrong usage"
    })
public final class TtlCommand extends Experiment {
  private static final String KEYSPACE = "ttl";
  private static final int OTHERS = 10_000;
  private static final int IN_FLIGHT = 256;
  private static final String WORKLOAD = "the others";
  private static final String REMOVAL = "those that expire";
  private static final String P99 = "p99 us";
  private static final String RATIO = "p99 to p99 before";
  private static final String WHOLE = ", all the while";
  private static final String LEFT = "objects left";
  private static final double RATIO_TARGET = 2;

  @Option(
      names = "--objects",
      paramLabel = "N",
      description = "how many expire within a second; 1,000,000, with --quick 100,000")
  private @Nullable Integer objects;

  @Option(
      names = "--rate",
      paramLabel = "N",
      description =
          "calls a second of others, of which half read and half increment; ${DEFAULT-VALUE} unless"
              + " given")
  private int rate = 10_000;

  @Option(
      names = "--before",
      paramLabel = "S",
      description = "seconds of the others before the objects expire; 10, with --quick 3")
  private @Nullable Double before;

  @Option(
      names = "--patience",
      paramLabel = "S",
      description =
          "seconds after the last deadline within which all must have been removed;"
              + " ${DEFAULT-VALUE} unless given")
  private double patience = 120;

  @Option(
      names = "--warm-up",
      paramLabel = "S",
      description = "seconds before anything is measured, of the datacenter; 30, with --quick 6")
  private @Nullable Double warmUp;

  @Option(
      names = "--durability",
      paramLabel = "HOW",
      description =
          "memory; async, with Redis's appendonly everysec; sync, with always; ${DEFAULT-VALUE}"
              + " unless given")
  private Durability durability = Durability.MEMORY;

  @Option(
      names = "--heap",
      paramLabel = "SIZE",
      description = "of the datacenter, as -Xmx has it; ${DEFAULT-VALUE} unless given")
  private String heap = "1g";

  @Mixin private ServerOptions serverOptions = new ServerOptions();

  private final List<String> failures = new ArrayList<>();

  /** For picocli. */
  public TtlCommand() {}

  private int objects() {
    return objects != null ? objects : quick() ? 100_000 : 1_000_000;
  }

  private double before() {
    return before != null ? before : quick() ? 3 : 10;
  }

  private double warmUp() {
    return warmUp != null ? warmUp : quick() ? 6 : 30;
  }

  @Override
  protected void measure(Results results) throws IOException, InterruptedException {
    if (objects() < 1 || rate < 1 || before() <= 0 || patience < 0) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "--objects, --rate and --before must be more than 0, --patience not less");
    }
    Path directory = Files.createTempDirectory("osier-ttl");
    System.out.println("logs and data in " + directory);
    results.note("durability", durability.label());
    results.note("objects", Integer.toString(objects()));
    results.note("others' calls a second", Integer.toString(rate));
    osier(results, directory);
    redis(results, directory);
    System.out.println();
    System.out.println(results.table(WORKLOAD));
    System.out.println(results.table(REMOVAL));
    verdict(results);
    Directories.delete(directory);
    if (!failures.isEmpty()) {
      throw new OsierException(ErrorCode.INTERNAL, String.join("; ", failures));
    }
  }

  private void osier(Results results, Path directory) throws IOException, InterruptedException {
    try (OsierProcess server =
            OsierProcess.start(
                directory, KEYSPACE, durability, serverOptions.list(), "-Xmx" + heap);
        OsierClient using = server.client("others");
        OsierClient asking = server.client("asking")) {
      using.awaitConnected(Duration.ofSeconds(30));
      asking.awaitConnected(Duration.ofSeconds(30));
      rounds(
          results,
          new ExpiringSide.Osier(server, asking, using.session().keyspace(KEYSPACE)),
          warmUp());
    }
  }

  private void redis(Results results, Path directory) throws IOException, InterruptedException {
    RedisProcess started;
    try {
      started = RedisProcess.start(directory, durability);
    } catch (OsierException e) {
      System.out.println("not measured beside Redis: " + e.getMessage());
      results.note("redis", "not measured: " + e.getMessage());
      return;
    }
    try (RedisProcess redis = started) {
      results.note("redis", redis.version());
      rounds(results, new ExpiringSide.Redis(redis), Math.min(5, warmUp() / 2));
    }
  }

  private ExpiryRound.Settings settings(int expiring, double beforeSeconds) {
    return new ExpiryRound.Settings(expiring, OTHERS, rate, beforeSeconds, patience);
  }

  private void rounds(Results results, ExpiringSide side, double warmSeconds)
      throws InterruptedException {
    System.out.println(side.name() + ": warming up");
    AtomicInteger next = new AtomicInteger();
    Driver.run(
        done -> {
          int n = next.getAndIncrement() & Integer.MAX_VALUE;
          side.use("other" + n % OTHERS, n % 2 == 0)
              .whenComplete((result, error) -> done.done(error == null));
        },
        IN_FLIGHT,
        0,
        warmSeconds / 2);
    // What removes is warm, too.
    try {
      new ExpiryRound(side, settings(Math.max(1, objects() / 20), warmSeconds / 2), "warm:")
          .run((seconds, left) -> {});
      for (int round = 0; round < rounds(2); round++) {
        String prefix = "r" + round + ":";
        boolean first = round == 0;
        ExpiryRound.Outcome outcome =
            new ExpiryRound(side, settings(objects(), before()), prefix)
                .run(
                    (seconds, left) -> {
                      if (first) {
                        double removed = (double) left.removed();
                        results.point(
                            LEFT, side.name() + ", not removed", seconds, left.all() - removed);
                        results.point(LEFT, side.name() + ", in all", seconds, (double) left.all());
                      }
                    });
        add(results, side, outcome);
      }
    } catch (OsierException e) {
      System.out.println("FAILED: " + e.getMessage());
      failures.add(e.getMessage());
    }
  }

  private void add(Results results, ExpiringSide side, ExpiryRound.Outcome outcome) {
    String name = side.name();
    double base = Math.max(1, outcome.before().getValueAtPercentile(99));
    add(results, name + ", before", outcome.before(), base);
    add(results, name + ", in the second", outcome.during(), base);
    add(results, name + ", until they are removed", outcome.removing(), base);
    add(results, name + ", until they are forgotten", outcome.forgetting(), base);
    add(results, name + WHOLE, outcome.after(), base);
    results.add(REMOVAL, name, "s until all are removed", outcome.removedSeconds());
    results.add(REMOVAL, name, "s until nothing is kept", outcome.goneSeconds());
    results.add(REMOVAL, name, "% of a processor before", 100 * outcome.cpuBefore());
    results.add(REMOVAL, name, "% until nothing is kept", 100 * outcome.cpuAfter());
    double micros =
        (outcome.cpuAfter() - outcome.cpuBefore()) * outcome.goneSeconds() * 1e6 / objects();
    results.add(REMOVAL, name, "server's µs/object", micros);
    results.add(REMOVAL, name, "others' calls that failed", (double) outcome.failed());
    System.out.printf(
        Locale.ROOT,
        "%s: removed after %.1f s, nothing is kept after %.1f s; p99 before %,d µs, in the second"
            + " %,d µs, in all %,d µs, max %,d µs%n",
        name,
        outcome.removedSeconds(),
        outcome.goneSeconds(),
        outcome.before().getValueAtPercentile(99),
        outcome.during().getValueAtPercentile(99),
        outcome.after().getValueAtPercentile(99),
        outcome.after().getMaxValue());
  }

  private static void add(Results results, String alternative, Histogram micros, double base) {
    if (micros.getTotalCount() == 0) {
      return; // there was no such time
    }
    results.add(WORKLOAD, alternative, "p50 us", (double) micros.getValueAtPercentile(50));
    results.add(WORKLOAD, alternative, P99, (double) micros.getValueAtPercentile(99));
    results.add(WORKLOAD, alternative, "max us", (double) micros.getMaxValue());
    results.add(WORKLOAD, alternative, RATIO, micros.getValueAtPercentile(99) / base);
  }

  private static void verdict(Results results) {
    double ratio = results.median(WORKLOAD, "osier" + WHOLE, RATIO);
    if (ratio > 0) {
      System.out.printf(
          Locale.ROOT,
          "the p99 of others is %.2f times that before (to reach: at most %.0f): %s%n",
          ratio,
          RATIO_TARGET,
          ratio <= RATIO_TARGET ? "reached" : "missed");
    }
  }

  @Override
  protected void plot(Plots plots) throws IOException {
    plots.bars("ttl-p99", "99 % of others' calls take, from when they were due", P99);
    plots.curves("ttl-left", LEFT, "s since the first deadline", "objects that are left");
  }
}
