package io.osier.bench.demo;

import static java.util.Objects.requireNonNull;

import io.osier.bench.cluster.CounterLoad;
import io.osier.bench.cluster.LocalCluster;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The demo's load: YCSB in a process of its own, counters and sets in this one. */
final class DemoLoad implements AutoCloseable {
  static final String YCSB = "ycsb";
  static final String COUNTERS = "counters";
  static final int RECORDS = 1_000;
  private static final Duration START_MAX = Duration.ofSeconds(30);

  /** What calls under way may take at the end, or YCSB's last ones. */
  private static final Duration END_MAX = Duration.ofSeconds(30);

  private final LocalCluster cluster;
  private final Path directory;
  private final int target;
  private final int seconds;
  private final long seed;
  private @Nullable YcsbRun inserts;
  private @Nullable YcsbRun ycsb;
  private @Nullable CounterLoad counters;
  private long startNanos;
  private double countersPerSecond;

  /**
   * Nothing runs yet.
   *
   * @param target operations per second, of which YCSB and the counters do one half each
   */
  DemoLoad(LocalCluster cluster, Path directory, int target, int seconds, long seed) {
    this.cluster = cluster;
    this.directory = directory;
    this.target = target;
    this.seconds = seconds;
    this.seed = seed;
  }

  /** Inserts YCSB's records. */
  void insert() throws IOException {
    inserts = YcsbRun.load(cluster, directory, RECORDS);
    inserts.await(Duration.ofSeconds(60));
  }

  /** Starts both halves, the counters when YCSB has begun. */
  void start() throws IOException {
    ycsb = YcsbRun.transactions(cluster, directory, RECORDS, target / 2, seconds);
    ycsb.awaitStarted(START_MAX);
    startNanos = System.nanoTime();
    counters = new CounterLoad(cluster, COUNTERS, target / 2, seed);
  }

  long startNanos() {
    return startNanos;
  }

  /** Ends the load and waits for what is under way. */
  void stop() {
    // Before waiting: the calls that hang after the kill are few, and long.
    countersPerSecond = counters().done() / ((System.nanoTime() - startNanos) / 1e9);
    counters().stop();
    ycsb().await(END_MAX);
  }

  CounterLoad counters() {
    return requireNonNull(counters, "the load was not started");
  }

  YcsbRun ycsb() {
    return requireNonNull(ycsb, "the load was not started");
  }

  /** Updates that were acknowledged. */
  long acknowledged() throws IOException {
    long inserted = requireNonNull(inserts, "nothing was inserted").inserts();
    return counters().done() + inserted + ycsb().updates();
  }

  /** Operations that failed, or whose outcome is unknown. */
  long failures() throws IOException {
    return counters().failures() + ycsb().failures();
  }

  /** Operations a second, of YCSB and of the counters, each while it ran. */
  double throughput() throws IOException {
    return (ycsb().reads() + ycsb().updates()) / ycsb().seconds() + countersPerSecond;
  }

  @Override
  public void close() {
    if (counters != null) {
      counters.close();
    }
  }
}
