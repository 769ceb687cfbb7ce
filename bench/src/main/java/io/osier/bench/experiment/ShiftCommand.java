package io.osier.bench.experiment;

import com.fasterxml.jackson.databind.JsonNode;
import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.cluster.Topology;
import io.osier.protocol.Request;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;

/** What happens when other objects become hot. */
@Command(
    name = "shift",
    mixinStandardHelpOptions = true,
    description = {
      "50,000 sets of 1 KB, half of the operations are updates, zipfian 0.99, three datacenters, staleness",
      "bound 2 s: the hot set changes at once (thesis 4.4). Measures throughput before and after, and which",
      "share of the 100 hottest as a datacenter reports them is wrong, with all objects switching at once",
      "and in groups, and with summaries of several capacities. Each is measured steady and with a shift in",
      "turn, so that a dip can be told from noise."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:measured", "1:it could not be run", "2:wrong usage"})
public final class ShiftCommand extends Experiment {
  private static final int OBJECTS = 50_000;
  private static final int TOP = 100;
  private static final int SHIFT = 17_000;
  private static final String KEYSPACE = "shift";
  private static final String THROUGHPUT = "Throughput while the hot set changes";
  private static final String WRONG = "Share of the 100 hottest that is wrong";
  private static final double SAMPLE_SECONDS = 0.5;

  /** So many samples make a window whose throughput is compared. */
  private static final int WINDOW = 4;

  /**
   * A setting of the adaptation.
   *
   * @param group how many switch in one step; 0 for all
   * @param capacity of the summary
   */
  private record Variant(String name, String propagation, int group, int capacity) {}

  private static final List<Variant> VARIANTS =
      List.of(
          new Variant("all at once", "adaptive", 0, 4_000),
          new Variant("10 by 10", "adaptive", 10, 4_000),
          new Variant("50 by 50", "adaptive", 50, 4_000),
          new Variant("capacity 1000", "adaptive", 0, 1_000),
          new Variant("capacity 250", "adaptive", 0, 250),
          new Variant("op only", "op", 0, 4_000));

  /**
   * What was seen at a moment.
   *
   * @param done operations so far
   * @param wrong share of the reported top that is not in the true top
   */
  private record Sample(double seconds, long done, double wrong) {}

  /** For picocli. */
  public ShiftCommand() {}

  @Override
  protected void measure(Results results) throws IOException, InterruptedException {
    SetLoad.Shape shape = new SetLoad.Shape(OBJECTS, 10, 100, 50, 32);
    // In quick mode only the two extremes.
    for (Variant variant : quick() ? VARIANTS.subList(0, 2) : VARIANTS) {
      String settings =
          "adaptation { group = %d, capacity = %d, top-k = %d }"
              .formatted(variant.group, variant.capacity, variant.capacity / 2);
      Turns.withCluster(
          variant.name,
          "    %s { sla = 2s, partitions = 1, propagation = %s }\n"
              .formatted(KEYSPACE, variant.propagation),
          settings,
          shape,
          (cluster, load) -> measure(results, variant, cluster, load));
    }
    System.out.println();
    results.workloads().forEach(workload -> System.out.println(results.table(workload)));
  }

  private void measure(Results results, Variant variant, LocalCluster cluster, SetLoad load)
      throws InterruptedException {
    double warmUp = quick() ? 8 : 20;
    double part = quick() ? 10 : 15;
    load.fill(KEYSPACE);
    LockSupport.parkNanos(3_000_000_000L);
    double total = warmUp + rounds() * 2 * part;
    List<Thread> threads = load.start(KEYSPACE, total, 1);
    LockSupport.parkNanos((long) (warmUp * 1e9));
    long began = System.nanoTime();
    for (int round = 1; round <= rounds(); round++) {
      List<Sample> steady = samples(cluster, load, began, part);
      long switches = switches(cluster);
      load.shift(SHIFT);
      List<Sample> shifted = samples(cluster, load, began, part);
      add(results, variant, steady, shifted, switches(cluster) - switches, round);
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private static List<Sample> samples(LocalCluster cluster, SetLoad load, long began, double part) {
    List<Sample> samples = new ArrayList<>();
    long start = System.nanoTime();
    for (int i = 0; i <= (int) (part / SAMPLE_SECONDS); i++) {
      long due = start + (long) (i * SAMPLE_SECONDS * 1e9);
      LockSupport.parkNanos(due - System.nanoTime());
      long done = load.done();
      samples.add(new Sample((System.nanoTime() - began) / 1e9, done, wrong(cluster, load)));
    }
    return samples;
  }

  private static double wrong(LocalCluster cluster, SetLoad load) {
    Set<String> right = new HashSet<>();
    for (int rank = 0; rank < TOP; rank++) {
      right.add(load.key(rank));
    }
    int found = 0;
    JsonNode report = cluster.inspect(Topology.DCS.getFirst(), Request.Topic.HOT, TOP);
    for (JsonNode object : report.get("keyspaces").get(KEYSPACE).get("hot")) {
      found += right.contains(object.get("key").asText()) ? 1 : 0;
    }
    return 100.0 * (TOP - found) / TOP;
  }

  private static long switches(LocalCluster cluster) {
    return cluster
        .inspect(Topology.DCS.getFirst(), Request.Topic.STAT, 0)
        .get("keyspaces")
        .get(KEYSPACE)
        .get("mode_switches")
        .asLong();
  }

  private static void add(
      Results results,
      Variant variant,
      List<Sample> steady,
      List<Sample> shifted,
      long switches,
      int round) {
    double before = rate(steady.getFirst(), steady.getLast());
    double noise = 100 * worst(steady) / before;
    double dip = 100 * worst(shifted) / before;
    double usual = steady.stream().mapToDouble(Sample::wrong).max().orElse(0);
    double average = steady.stream().mapToDouble(Sample::wrong).average().orElse(0);
    String workload = "the hot set changes";
    String name = variant.name;
    results.add(workload, name, "operations/s before", before);
    results.add(
        workload, name, "after, %", 100 * rate(shifted.getFirst(), shifted.getLast()) / before);
    results.add(workload, name, "worst 2 s steady, %", noise);
    results.add(workload, name, "worst 2 s after, %", dip);
    results.add(workload, name, "switches", (double) switches);
    if (variant.propagation.equals("adaptive")) {
      results.add(workload, name, "wrong before, %", average);
      results.add(workload, name, "right again, s", rightAgain(shifted, usual));
      if (round == 1) {
        double zero = shifted.getFirst().seconds;
        shifted.forEach(s -> results.point(WRONG, name, s.seconds - zero, s.wrong));
      }
    }
    // A second for each point.
    for (List<Sample> samples : List.of(steady, shifted)) {
      for (int i = 2; i < samples.size(); i += 2) {
        Sample now = samples.get(i);
        results.point(THROUGHPUT, name, now.seconds, rate(samples.get(i - 2), now));
      }
    }
    System.out.printf(
        Locale.ROOT,
        "%s, round %d: worst 2 s steady %.0f %%, after the shift %.0f %%; %d switches%n",
        name,
        round,
        noise,
        dip,
        switches);
  }

  private static double rate(Sample from, Sample to) {
    return (to.done - from.done) / (to.seconds - from.seconds);
  }

  private static double worst(List<Sample> samples) {
    double worst = Double.MAX_VALUE;
    for (int i = WINDOW; i < samples.size(); i++) {
      worst = Math.min(worst, rate(samples.get(i - WINDOW), samples.get(i)));
    }
    return worst;
  }

  /** Seconds until the reported top was no more wrong than it had been at its worst before. */
  private static double rightAgain(List<Sample> shifted, double usual) {
    for (Sample sample : shifted) {
      if (sample.wrong <= usual) {
        return sample.seconds - shifted.getFirst().seconds;
      }
    }
    return Double.POSITIVE_INFINITY;
  }

  @Override
  protected void plot(Plots plots) throws IOException {
    plots.curves("shift-throughput", THROUGHPUT, "s", "operations/s");
    plots.curves("shift-wrong", WRONG, "seconds since the change", "%");
  }
}
