package io.osier.bench.experiment;

import io.osier.bench.cluster.KeyspaceCounts;
import io.osier.bench.cluster.LocalCluster;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;

/** Two staleness bounds side by side. */
@Command(
    name = "mixed-sla",
    mixinStandardHelpOptions = true,
    description = {
      "Two groups of objects with staleness bounds of 5 s and of 8 s, each alone and both at once (thesis",
      "3.1.5, where each delayed the other): how long updates take to be visible. All objects travel as",
      "states, which holds them for as long as the bound allows; in session and in causal keyspaces. With",
      "--quick the bounds are 1.25 s and 2 s."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:measured", "1:it could not be run", "2:wrong usage"})
public final class MixedSlaCommand extends Experiment {
  private static final String CHART = "visibility";
  private static final List<String> CONSISTENCIES = List.of("session", "causal");

  /** For picocli. */
  public MixedSlaCommand() {}

  /**
   * A group of objects.
   *
   * @param boundMillis its staleness bound
   */
  private record Group(String keyspace, int boundMillis) {}

  @Override
  protected void measure(Results results) throws IOException, InterruptedException {
    List<Integer> bounds = quick() ? List.of(1_250, 2_000) : List.of(5_000, 8_000);
    StringBuilder keyspaces = new StringBuilder();
    List<List<Group>> pairs = new ArrayList<>();
    for (String consistency : CONSISTENCIES) {
      List<Group> pair = new ArrayList<>();
      for (int bound : bounds) {
        Group group = new Group(consistency + "-" + bound, bound);
        keyspaces.append(
            "    %s { sla = %dms, partitions = 1, propagation = state, consistency = %s }\n"
                .formatted(group.keyspace, bound, consistency));
        pair.add(group);
      }
      pairs.add(pair);
    }
    // Few at once: what is asked is whether one group waits for the other, not for the processor.
    SetLoad.Shape shape = new SetLoad.Shape(100, 20, 50, 50, 2);
    Turns.withCluster(
        "two staleness bounds",
        keyspaces.toString(),
        "",
        shape,
        (cluster, load) -> {
          for (List<Group> pair : pairs) {
            pair.forEach(group -> load.fill(group.keyspace));
          }
          LockSupport.parkNanos((bounds.getLast() + 1_500) * 1_000_000L);
          for (int round = 1; round <= rounds(); round++) {
            for (List<Group> pair : pairs) {
              for (Group group : pair) {
                run(results, cluster, load, List.of(group), round);
              }
              run(results, cluster, load, pair, round);
            }
          }
        });
    for (String workload : results.workloads()) {
      System.out.println();
      System.out.println(results.table(workload));
    }
  }

  private void run(
      Results results, LocalCluster cluster, SetLoad load, List<Group> groups, int round)
      throws InterruptedException {
    List<KeyspaceCounts> before = counts(cluster, groups);
    List<Thread> threads = new ArrayList<>();
    int longest = groups.stream().mapToInt(Group::boundMillis).max().orElseThrow();
    double seconds = quick() ? 5 : 20;
    for (Group group : groups) {
      threads.addAll(load.start(group.keyspace, seconds, round));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    LockSupport.parkNanos((longest + 1_500) * 1_000_000L);
    List<KeyspaceCounts> after = counts(cluster, groups);
    for (int i = 0; i < groups.size(); i++) {
      Group group = groups.get(i);
      String alternative = groups.size() == 1 ? "alone" : "beside the other";
      Histogram seen = after.get(i).visibilitySince(before.get(i));
      double updates = after.get(i).updates() - before.get(i).updates();
      double late = after.get(i).violations() - before.get(i).violations();
      results.add(group.keyspace, alternative, "updates/s", updates / seconds);
      results.add(group.keyspace, alternative, Meter.P50, seen.getValueAtPercentile(50) / 1e3);
      results.add(group.keyspace, alternative, Meter.P99, seen.getValueAtPercentile(99) / 1e3);
      results.add(group.keyspace, alternative, Meter.MAX, seen.getMaxValue() / 1e3);
      results.add(group.keyspace, alternative, Meter.LATE, late);
      if (round == 1) {
        for (int percent = 1; percent < 100; percent++) {
          double seconds1 = seen.getValueAtPercentile(percent) / 1e6;
          results.point(CHART, group.keyspace + " " + alternative, seconds1, percent);
        }
      }
      System.out.printf(
          java.util.Locale.ROOT,
          "%s %s: median %,.0f ms, most %,.0f ms%n",
          group.keyspace,
          alternative,
          seen.getValueAtPercentile(50) / 1e3,
          seen.getMaxValue() / 1e3);
    }
  }

  private static List<KeyspaceCounts> counts(LocalCluster cluster, List<Group> groups) {
    return groups.stream().map(group -> KeyspaceCounts.of(cluster, group.keyspace)).toList();
  }

  @Override
  protected void plot(Plots plots) throws IOException {
    plots.curves("mixed-sla", CHART, "visible after, s", "percent of the shipments");
  }
}
