package io.osier.bench.demo;

import io.osier.bench.cluster.Contents;
import io.osier.bench.cluster.CounterLoad;
import io.osier.bench.cluster.LocalCluster;
import io.osier.proxy.Keyspace;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/**
 * What the demo found.
 *
 * @param converged whether all datacenters show the same
 * @param objects how many were compared
 * @param different how many differ
 * @param missing acknowledged updates that are not everywhere
 * @param surplus updates that are there more often than they were made
 * @param acknowledged updates, as the clients count them
 * @param failed operations that failed, or whose outcome is unknown
 * @param throughput operations a second of YCSB and of the counters, each while it ran
 * @param wanUnderLoad bytes on the links when the load had ended
 */
record Outcome(
    boolean converged,
    long objects,
    long different,
    long missing,
    long surplus,
    long acknowledged,
    long failed,
    double throughput,
    long wanUnderLoad) {
  private static final int NAMED_MAX = 10;

  /** Compares every object of all datacenters, and with what was acknowledged. */
  static Outcome of(
      LocalCluster cluster, DemoLoad load, boolean equal, long wanUnderLoad, Consumer<String> say)
      throws IOException {
    Contents records = Contents.of(cluster, DemoLoad.YCSB);
    Contents counters = Contents.of(cluster, DemoLoad.COUNTERS);
    long missing = 0;
    long surplus = 0;
    for (List<Keyspace.Row> rows : counters.rows()) {
      CounterLoad.Audit audit = load.counters().audit(rows);
      missing = Math.max(missing, audit.missing());
      surplus = Math.max(surplus, audit.surplus());
    }
    for (Contents contents : List.of(records, counters)) {
      contents.different().stream().limit(NAMED_MAX).forEach(k -> say.accept("differs: " + k));
    }
    long fewest = records.rows().stream().mapToLong(List::size).min().orElse(0);
    long different = (long) records.different().size() + counters.different().size();
    return new Outcome(
        equal && different == 0,
        records.rows().getFirst().size() + counters.rows().getFirst().size(),
        different,
        Math.max(missing, DemoLoad.RECORDS - fewest),
        surplus,
        load.acknowledged(),
        load.failures(),
        load.throughput(),
        wanUnderLoad);
  }

  boolean isGood() {
    return converged && missing == 0 && surplus == 0;
  }
}
