package io.osier.bench.soak;

import io.osier.bench.cluster.Contents;
import io.osier.bench.cluster.CounterLoad;
import io.osier.bench.cluster.LocalCluster;
import io.osier.proxy.Keyspace;
import java.util.List;

/**
 * The load of a soak: at the datacenters that stay, counters and sets as fast as they are answered
 * and registers of up to a megabyte, more than a link carries; in a causal keyspace a steady load
 * at all, the one that is away included.
 */
final class SoakLoad implements AutoCloseable {
  static final String COUNTERS = "counters";
  static final String LARGE = "large";
  static final String CAUSAL = "causal";
  static final String KEYSPACES =
      """
          counters { sla = 2s }
          large { sla = 5s }
          causal { consistency = causal, sla = 2s }
      """;
  private static final int CAUSAL_PER_SECOND = 300;

  private final CounterLoad counters;
  private final CounterLoad causal;
  private final LargeLoad large;

  SoakLoad(LocalCluster cluster, List<String> stay, long largeBytesPerSecond, long seed) {
    this.counters = new CounterLoad(cluster, stay, COUNTERS, Integer.MAX_VALUE, seed);
    this.causal = new CounterLoad(cluster, CAUSAL, CAUSAL_PER_SECOND, seed + 10);
    this.large = new LargeLoad(cluster, stay, LARGE, largeBytesPerSecond, seed + 20);
  }

  void stop() {
    List<Thread> stops =
        List.of(
            Thread.ofPlatform().start(counters::stop),
            Thread.ofPlatform().start(causal::stop),
            Thread.ofPlatform().start(large::stop));
    for (Thread stop : stops) {
      try {
        stop.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Updates that were acknowledged. */
  long done() {
    return counters.done() + causal.done() + large.done();
  }

  /** Updates that failed, or whose outcome is unknown. */
  long failures() {
    return counters.failures() + causal.failures() + large.failures();
  }

  long largeBytes() {
    return large.bytes();
  }

  /** What is missing anywhere, or there too often; keyspace by keyspace. */
  record Audit(long missing, long surplus, long different) {}

  Audit audit(LocalCluster cluster) {
    Contents ofCounters = Contents.of(cluster, COUNTERS);
    long missing = 0;
    long surplus = 0;
    long different = ofCounters.different().size();
    for (List<Keyspace.Row> rows : ofCounters.rows()) {
      CounterLoad.Audit audit = counters.audit(rows);
      missing = Math.max(missing, audit.missing());
      surplus = Math.max(surplus, audit.surplus());
    }
    Contents ofCausal = Contents.of(cluster, CAUSAL);
    different += ofCausal.different().size();
    for (List<Keyspace.Row> rows : ofCausal.rows()) {
      CounterLoad.Audit audit = causal.audit(rows);
      missing = Math.max(missing, audit.missing());
      surplus = Math.max(surplus, audit.surplus());
    }
    Contents ofLarge = Contents.of(cluster, LARGE);
    different += ofLarge.different().size();
    for (List<Keyspace.Row> rows : ofLarge.rows()) {
      missing = Math.max(missing, large.missing(rows));
    }
    return new Audit(missing, surplus, different);
  }

  @Override
  public void close() {
    counters.close();
    causal.close();
    large.close();
  }
}
