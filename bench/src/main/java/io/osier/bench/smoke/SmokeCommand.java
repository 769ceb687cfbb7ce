package io.osier.bench.smoke;

import io.osier.bench.cluster.ClientLinks;
import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.CounterLoad;
import io.osier.bench.cluster.Jvm;
import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.cluster.Trial;
import io.osier.bench.history.Disturbances;
import io.osier.bench.history.HistoryLoad;
import io.osier.bench.history.HolderMoves;
import io.osier.bench.sample.SampleUnderFaults;
import io.osier.bench.sample.Social;
import io.osier.bench.sample.Wallet;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs several checked loads at once, under several faults at once. */
@Command(
    name = "smoke",
    mixinStandardHelpOptions = true,
    description = {
      "Runs three datacenters as processes, and on them at once: counters and sets, "
          + "random transactions (history), the wallet and the social network; while "
          + "datacenters are killed and stopped, links are cut and narrow, and once all "
          + "datacenters are killed together. In the end:",
      "  counters: every acknowledged update is everywhere exactly once",
      "  history: what sessions saw that do all that sessions can do (moves, handed tokens,"
          + " programs, calls that do not wait for each other, snapshots of the past, aborted"
          + " transactions, writes of the same at one instant) is causally consistent by the"
          + " definition, with one order of all transactions by which the last writer wins",
      "  wallet: no account was ever below 0, and the sum was what was paid in",
      "  social: no reply was seen without its post, a post has as many likes as those "
          + "who like it, and whoever follows somebody is among the followers"
    })
public final class SmokeCommand extends Trial {
  private static final String COUNTERS = "counters";
  private static final int COUNTERS_PER_SECOND = 500;
  private static final int SESSIONS = 6;
  private static final int KEYS = 30;
  private static final int TRANSACTIONS_PER_SECOND = 100;
  private static final long PAUSE_NANOS = 20_000_000;

  enum Part {
    COUNTERS,
    HISTORY,
    WALLET,
    SOCIAL
  }

  @Option(
      names = "--seconds",
      defaultValue = "30",
      description = "how long the load runs, at least 5 (default: ${DEFAULT-VALUE})")
  private int seconds;

  @Option(
      names = "--only",
      split = ",",
      description = "some of ${COMPLETION-CANDIDATES}, with commas between them")
  private List<Part> only = List.of(Part.values());

  @Option(
      names = "--faults",
      defaultValue = "2",
      description = "how many at once, 0 to 10 (default: ${DEFAULT-VALUE})")
  private int faults;

  @Option(
      names = "--placement",
      description =
          "the registers of history are held by two of the three or all, which is altered all the"
              + " time")
  private boolean placement;

  private final List<SampleUnderFaults> samples = new ArrayList<>();

  @Override
  protected ClusterSettings settings(Path directory) {
    require(
        seconds >= 5 && faults >= 0 && faults <= 10,
        "--seconds must be at least 5, and --faults 0 to 10");
    if (only.contains(Part.WALLET)) {
      samples.add(new Wallet());
    }
    if (only.contains(Part.SOCIAL)) {
      samples.add(new Social());
    }
    StringBuilder keyspaces = new StringBuilder(COUNTERS + " { sla = 1s }\n");
    keyspaces.append(placement ? HistoryLoad.MOVING : HistoryLoad.KEYSPACES);
    samples.forEach(s -> keyspaces.append(s.keyspaces()));
    return new ClusterSettings(directory, keyspaces.toString()).javaOptions(Jvm.BRIEF);
  }

  @Override
  protected void run(LocalCluster cluster) {
    Random random = new Random(seed());
    boolean isAlone = only.size() == 1;
    List<CounterLoad> counters = new ArrayList<>();
    List<HistoryLoad> histories = new ArrayList<>();
    List<HolderMoves> moves = new ArrayList<>();
    try (ClientLinks links = new ClientLinks(cluster, seed())) {
      if (only.contains(Part.COUNTERS)) {
        counters.add(new CounterLoad(cluster, COUNTERS, COUNTERS_PER_SECOND, seed()));
      }
      if (only.contains(Part.HISTORY)) {
        int more = isAlone ? SESSIONS / 2 : 0;
        histories.add(
            new HistoryLoad(
                cluster,
                links,
                SESSIONS + more,
                KEYS,
                TRANSACTIONS_PER_SECOND * (SESSIONS + more) / SESSIONS,
                placement ? List.of(HolderMoves.STAYS) : cluster.dcs(),
                random));
      }
      if (placement) {
        moves.add(new HolderMoves(cluster, new Random(random.nextLong())));
      }
      samples.forEach(s -> s.begin(cluster, seed(), isAlone ? 0 : PAUSE_NANOS));
      Disturbances disturbances = new Disturbances(cluster, links, this::wrong);
      Duration half = Duration.ofSeconds(seconds).dividedBy(2);
      disturbances.run(faults, half, random);
      if (faults > 0) {
        System.out.println("killing all");
        cluster.dcs().parallelStream().forEach(cluster::kill);
        cluster.dcs().forEach(cluster::start);
        cluster.awaitReady(PATIENCE);
      }
      disturbances.run(faults, half, random);
      if (faults > 0 && disturbances.done() == 0) {
        wrong("nothing was disturbed");
      }
      for (HolderMoves one : moves) {
        if (one.done() == 0) {
          wrong("nothing was moved");
        }
        if (!one.end(PATIENCE)) {
          wrong("the last move does not end");
        }
        System.out.println(one.done() + " moves of holders");
      }
      histories.forEach(HistoryLoad::stop);
      samples.forEach(SampleUnderFaults::stop);
      check(cluster, counters, histories);
    } finally {
      moves.forEach(HolderMoves::close);
      counters.forEach(CounterLoad::close);
      histories.forEach(HistoryLoad::close);
      samples.forEach(SampleUnderFaults::close);
    }
  }

  private void check(
      LocalCluster cluster, List<CounterLoad> counters, List<HistoryLoad> histories) {
    compare(cluster, counters, false);
    for (HistoryLoad history : histories) {
      history.readAll(cluster);
      tell("history", history.summary(), history.violations());
    }
    for (SampleUnderFaults sample : samples) {
      sample.checkEnd();
      tell(sample.keyspace(), sample.report(), sample.firstViolations());
    }
  }

  private void tell(String check, String summary, List<String> violations) {
    System.out.println(check + ": " + summary + (violations.isEmpty() ? "" : ": NOT RIGHT"));
    violations.forEach(v -> wrong(check + ": " + v));
  }
}
