package io.osier.bench.experiment;

import static java.util.Objects.requireNonNull;

import io.osier.bench.cluster.KeyspaceCounts;
import io.osier.bench.cluster.LocalCluster;
import java.time.Duration;
import java.util.Locale;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Reads what a cluster counts at two moments of a run, and adds the difference to the results. Both
 * moments are in the middle of the load, so that what was held before the first stands for what is
 * held at the second.
 */
final class Meter {
  static final String RATE = "operations/s";
  static final String BYTES = "link bytes/update";
  static final String CPU = "cpu us/operation";
  static final String MU = "coordination ms";
  static final String P50 = "visible p50 ms";
  static final String P99 = "p99 ms";
  static final String P9999 = "p99.99 ms";
  static final String MAX = "max ms";
  static final String LATE = "violations";

  private final LocalCluster cluster;
  private final SetLoad load;
  private final String keyspace;
  private final Counted before;
  private @Nullable Counted after;

  /** What was counted until a moment. */
  private record Counted(
      KeyspaceCounts counts, long wanBytes, Duration cpu, long done, long failed, long nanos) {}

  /** Begins to measure: the load runs already. */
  Meter(LocalCluster cluster, SetLoad load, String keyspace) {
    this.cluster = cluster;
    this.load = load;
    this.keyspace = keyspace;
    this.before = read();
  }

  /** Ends the measurement: the load still runs. */
  void stop() {
    after = read();
  }

  private Counted read() {
    KeyspaceCounts counts = KeyspaceCounts.of(cluster, keyspace);
    return new Counted(
        counts, cluster.wanBytes(), cluster.cpu(), load.done(), load.failed(), System.nanoTime());
  }

  /** Adds what was measured, once the last of what was held has been shipped. */
  void add(Results results, String workload, String alternative) {
    Counted after = requireNonNull(this.after, "the measurement has not ended");
    KeyspaceCounts shipped = KeyspaceCounts.of(cluster, keyspace);
    long updates = Math.max(1, after.counts.updates() - before.counts.updates());
    long operations = after.done - before.done;
    double rate = operations / ((after.nanos - before.nanos) / 1e9);
    Histogram seen = shipped.visibilitySince(before.counts);
    double micros = after.cpu.minus(before.cpu).toNanos() / 1e3;
    double bytes = (after.wanBytes - before.wanBytes) / (double) updates;
    double late = shipped.violations() - before.counts.violations();
    results.add(workload, alternative, RATE, rate);
    results.add(workload, alternative, BYTES, bytes);
    results.add(workload, alternative, CPU, micros / Math.max(1, operations));
    results.add(workload, alternative, MU, after.counts.coordinationMillis());
    results.add(workload, alternative, P50, seen.getValueAtPercentile(50) / 1e3);
    results.add(workload, alternative, P99, seen.getValueAtPercentile(99) / 1e3);
    results.add(workload, alternative, P9999, seen.getValueAtPercentile(99.99) / 1e3);
    results.add(workload, alternative, MAX, seen.getMaxValue() / 1e3);
    results.add(workload, alternative, LATE, late);
    if (after.failed > before.failed) {
      System.out.printf("%s: %,d operations failed%n", alternative, after.failed - before.failed);
    }
    System.out.printf(
        Locale.ROOT,
        "%s, %-12s %,10.0f operations/s, %,8.0f bytes an update%n",
        workload,
        alternative,
        rate,
        bytes);
  }
}
