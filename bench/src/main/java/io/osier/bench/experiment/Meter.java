package io.osier.bench.experiment;

import io.osier.bench.cluster.KeyspaceCounts;
import io.osier.bench.cluster.LocalCluster;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/** Reads what a cluster counts before and after a run, and adds the difference to the results. */
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
  private final String keyspace;
  private final KeyspaceCounts before;
  private final long wan;
  private final Duration cpu;

  /** Reads the counts of now. */
  Meter(LocalCluster cluster, String keyspace) {
    this.cluster = cluster;
    this.keyspace = keyspace;
    this.before = KeyspaceCounts.of(cluster, keyspace);
    this.wan = cluster.wanBytes();
    this.cpu = cluster.cpu();
  }

  /**
   * Adds what the run did.
   *
   * @param settleMillis so long is waited until what is held has been shipped
   */
  void add(
      Results results,
      String workload,
      String alternative,
      SetLoad.Outcome outcome,
      long settleMillis) {
    double mu = KeyspaceCounts.of(cluster, keyspace).coordinationMillis();
    LockSupport.parkNanos(settleMillis * 1_000_000L);
    KeyspaceCounts after = KeyspaceCounts.of(cluster, keyspace);
    long updates = Math.max(1, after.updates() - before.updates());
    Histogram seen = after.visibilitySince(before);
    double micros = cluster.cpu().minus(cpu).toNanos() / 1e3;
    double bytes = (cluster.wanBytes() - wan) / (double) updates;
    results.add(workload, alternative, RATE, outcome.perSecond());
    results.add(workload, alternative, BYTES, bytes);
    results.add(workload, alternative, CPU, micros / Math.max(1, outcome.operations()));
    results.add(workload, alternative, MU, mu);
    results.add(workload, alternative, P50, seen.getValueAtPercentile(50) / 1e3);
    results.add(workload, alternative, P99, seen.getValueAtPercentile(99) / 1e3);
    results.add(workload, alternative, P9999, seen.getValueAtPercentile(99.99) / 1e3);
    results.add(workload, alternative, MAX, seen.getMaxValue() / 1e3);
    results.add(workload, alternative, LATE, (double) (after.violations() - before.violations()));
    if (outcome.failures() > 0) {
      System.out.printf("%s: %,d operations failed%n", alternative, outcome.failures());
    }
    System.out.printf(
        java.util.Locale.ROOT,
        "%s, %-12s %,10.0f operations/s, %,8.0f bytes an update%n",
        workload,
        alternative,
        outcome.perSecond(),
        bytes);
  }
}
