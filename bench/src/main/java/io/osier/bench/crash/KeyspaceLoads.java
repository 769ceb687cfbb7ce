package io.osier.bench.crash;

import io.osier.bench.cluster.CounterLoad;
import io.osier.bench.cluster.LocalCluster;
import java.time.Duration;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;

/** The loads of a session and a causal keyspace, which are audited in the end. */
final class KeyspaceLoads implements AutoCloseable {
  /** The configuration of the keyspaces. */
  static final String KEYSPACES =
      "    likes { sla = 1s }\n    accounts { sla = 1s, consistency = causal }\n";

  private static final Duration EQUAL_MAX = Duration.ofMinutes(2);

  private final LocalCluster cluster;
  private final SortedMap<String, CounterLoad> loads = new TreeMap<>();

  /** Starts the loads; what makes that of a keyspace is given its name. */
  KeyspaceLoads(LocalCluster cluster, Function<String, CounterLoad> load) {
    this.cluster = cluster;
    for (String keyspace : new String[] {"accounts", "likes"}) {
      loads.put(keyspace, load.apply(keyspace));
    }
  }

  /** Acknowledged updates so far. */
  long done() {
    return loads.values().stream().mapToLong(CounterLoad::done).sum();
  }

  /**
   * Ends the loads, prints what is there and what is missing, and says whether all is right.
   *
   * @param forgets whether updates may be missing, as long as all datacenters lack the same
   */
  boolean isRight(boolean forgets) {
    loads.values().forEach(CounterLoad::stop);
    boolean good = cluster.fleet().awaitEqual(EQUAL_MAX, System.out::println);
    System.out.println("datacenters " + (good ? "equal" : "NOT EQUAL"));
    for (String keyspace : loads.keySet()) {
      CounterLoad load = loads.get(keyspace);
      CounterLoad.Audit audit = cluster.fleet().audit(load, keyspace);
      System.out.printf(
          Locale.ROOT,
          "%s: %d acknowledged updates, %d failed or unknown, %d missing, %d surplus%n",
          keyspace,
          load.done(),
          load.failures(),
          audit.missing(),
          audit.surplus());
      good &= forgets || (audit.missing() == 0 && audit.surplus() == 0);
    }
    return good;
  }

  @Override
  public void close() {
    loads.values().forEach(CounterLoad::close);
  }
}
