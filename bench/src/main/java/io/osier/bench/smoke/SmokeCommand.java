package io.osier.bench.smoke;

import io.osier.bench.cluster.ClientLinks;
import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.CounterLoad;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.Jvm;
import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.history.Disturbances;
import io.osier.bench.history.HistoryLoad;
import io.osier.bench.sample.SampleUnderFaults;
import io.osier.bench.sample.SocialCommand;
import io.osier.bench.sample.WalletCommand;
import io.osier.core.OsierException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What crash, history, wallet and social do, at once and in short. */
@Command(
    name = "smoke",
    mixinStandardHelpOptions = true,
    description = {
      "Runs three durable datacenters as processes, and on them at once: counters and sets, random"
          + " transactions, the",
      "wallet and the social network; while datacenters are killed and stopped, links are cut and"
          + " narrow, two",
      "faults at a time, and once all datacenters are killed together. In the end every"
          + " acknowledged update must",
      "be everywhere exactly once, what the transactions saw must be causally consistent, and what"
          + " wallet and",
      "social check must hold. Prints a line for each."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:all is right",
      "1:something is not, or it could not be run",
      "2:wrong usage"
    })
public final class SmokeCommand implements Callable<Integer> {
  private static final String COUNTERS = "counters";
  private static final int COUNTERS_PER_SECOND = 500;
  private static final int SESSIONS = 6;
  private static final int KEYS = 30;
  private static final int TRANSACTIONS_PER_SECOND = 100;
  private static final int FAULTS = 2;
  private static final long PAUSE_NANOS = 20_000_000;
  private static final Duration READY = Duration.ofMinutes(2);

  @Option(
      names = "--seconds",
      defaultValue = "30",
      paramLabel = "N",
      description = "how long the load runs, at least 5 (default: ${DEFAULT-VALUE})")
  private int seconds;

  @Option(
      names = "--seed",
      defaultValue = "0",
      description = "seed of what is done and disturbed; 0 draws one, which is printed (default)")
  private long seed;

  private final List<String> wrong = new ArrayList<>();

  /** For picocli. */
  public SmokeCommand() {}

  @Override
  public Integer call() throws IOException {
    if (seconds < 5) {
      System.err.println("--seconds must be at least 5");
      return 2;
    }
    long used = seed == 0 ? 1 + new Random().nextInt(1_000_000) : seed;
    Path directory = Files.createTempDirectory("osier-smoke");
    System.out.println("seed " + used + "; logs and data in " + directory);
    List<SampleUnderFaults> samples = List.of(new WalletCommand(), new SocialCommand());
    try (LocalCluster cluster = cluster(directory, samples, used)) {
      cluster.awaitReady(READY);
      run(cluster, samples, used);
    } catch (OsierException e) {
      wrong.add("it could not be run: " + e.code() + ": " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      wrong.add("interrupted");
    }
    if (wrong.isEmpty()) { // otherwise somebody will want to see them
      Directories.delete(directory);
      System.out.println("smoke: all is right");
      return 0;
    }
    wrong.forEach(w -> System.out.println("VIOLATED: " + w));
    System.out.printf(
        Locale.ROOT,
        "smoke: %d violations; the same again: ./osier bench smoke --seconds %d --seed %d%n",
        wrong.size(),
        seconds,
        used);
    return 1;
  }

  private static LocalCluster cluster(Path directory, List<SampleUnderFaults> samples, long used) {
    StringBuilder keyspaces = new StringBuilder("    " + COUNTERS + " { sla = 1s }\n");
    keyspaces.append(HistoryLoad.KEYSPACES);
    samples.forEach(s -> keyspaces.append(s.keyspaces()));
    return new ClusterSettings(directory, keyspaces.toString())
        .javaOptions(Jvm.BRIEF)
        .seed(used)
        .start();
  }

  private void run(LocalCluster cluster, List<SampleUnderFaults> samples, long used)
      throws InterruptedException {
    Random random = new Random(used);
    try (ClientLinks links = new ClientLinks(cluster, used);
        CounterLoad counters = new CounterLoad(cluster, COUNTERS, COUNTERS_PER_SECOND, used);
        HistoryLoad history =
            new HistoryLoad(
                cluster, links, SESSIONS, KEYS, TRANSACTIONS_PER_SECOND, false, random)) {
      samples.forEach(s -> s.begin(cluster, used, PAUSE_NANOS));
      Disturbances disturbances = new Disturbances(cluster, links, wrong::add);
      Duration half = Duration.ofSeconds(seconds).dividedBy(2);
      disturbances.run(FAULTS, half, random);
      System.out.println("killing all");
      cluster.dcs().parallelStream().forEach(cluster::kill);
      cluster.dcs().forEach(cluster::start);
      cluster.awaitReady(READY);
      disturbances.run(FAULTS, half, random);
      counters.stop();
      history.stop();
      samples.forEach(SampleUnderFaults::stop);
      check(cluster, counters, history, samples);
    } finally {
      samples.forEach(SampleUnderFaults::close);
    }
  }

  private void check(
      LocalCluster cluster,
      CounterLoad counters,
      HistoryLoad history,
      List<SampleUnderFaults> samples) {
    cluster.awaitReady(READY);
    history.readAll(cluster);
    boolean equal = cluster.fleet().awaitEqual(READY, System.out::println);
    tell("datacenters", equal ? "equal" : "not equal", equal ? List.of() : List.of("they differ"));
    CounterLoad.Audit audit = cluster.fleet().audit(counters, COUNTERS);
    boolean all = audit.missing() == 0 && audit.surplus() == 0 && counters.done() > 0;
    String updates =
        String.format(
            Locale.ROOT,
            "%d updates acknowledged, %d failed or of unknown outcome, %d missing, %d surplus",
            counters.done(),
            counters.failures(),
            audit.missing(),
            audit.surplus());
    tell(COUNTERS, updates, all ? List.of() : List.of(updates));
    samples.forEach(SampleUnderFaults::checkEnd);
    tell("history", history.summary(), history.violations());
    samples.forEach(s -> tell(s.keyspace(), s.report(), s.firstViolations()));
  }

  private void tell(String check, String summary, List<String> violations) {
    System.out.println(check + ": " + summary + (violations.isEmpty() ? "" : ": NOT RIGHT"));
    violations.forEach(v -> wrong.add(check + ": " + v));
  }
}
