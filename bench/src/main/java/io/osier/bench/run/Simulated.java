package io.osier.bench.run;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.typesafe.config.Config;
import io.osier.bench.cluster.Topology;
import io.osier.bench.sim.QuietCluster;
import io.osier.bench.sim.SimComparison;
import io.osier.bench.systems.CommandSequence;
import io.osier.bench.systems.CommandSequence.Timed;
import io.osier.bench.systems.Targets;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.KeyspacePolicy.Propagation;
import io.osier.core.KeyspacePolicy.StatePayload;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.store.ObjectStore;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.HdrHistogram.Histogram;
import org.slf4j.LoggerFactory;

/**
 * Runs loads in virtual time over simulated links: the command sequence at load.rate, by the way of
 * propagation of the first keyspace; or, for the operation {@code mixed}, the simulator's own load
 * on a causal and a session keyspace.
 */
final class Simulated {
  private static final long POLL_NANOS = 5_000_000;
  private static final long SETTLE_NANOS = 500_000_000;
  private static final long POLLS_MAX = 60_000_000_000L / POLL_NANOS;

  private Simulated() {}

  static void run(Config config, int seed, String row, Turn.Rows rows) {
    if (LoggerFactory.getLogger("io.osier") instanceof Logger logger) {
      logger.setLevel(Level.ERROR); // its datacenters connect all the time
    }
    Config load = config.getConfig("load");
    int count = config.getInt("cluster.dcs");
    int seconds = (int) config.getDouble("seconds");
    if (load.getConfig("mix").hasPath("mixed")) {
      for (SimComparison.Side side : SimComparison.run(count, seconds, seed)) {
        String name = row.isEmpty() ? side.keyspace() : row + ", " + side.keyspace();
        rows.add(name, "updates", (double) side.updates());
        rows.add(name, "link bytes/update", side.bytes() / (double) side.updates());
        visible(name, side.visibilityMicros(), side.slaViolations(), rows);
      }
    } else {
      sequence(config, count, load.getInt("rate"), seed, row, rows);
    }
  }

  private static void visible(String row, Histogram micros, long violations, Turn.Rows rows) {
    rows.add(row, "visible p50 ms", micros.getValueAtPercentile(50) / 1e3);
    rows.add(row, "visible p99", micros.getValueAtPercentile(99) / 1e3);
    rows.add(row, "visible max", micros.getMaxValue() / 1e3);
    rows.add(row, "violations", (double) violations);
  }

  private static KeyspacePolicy policy(Config keyspaces) {
    String name = keyspaces.root().keySet().iterator().next();
    Config own = keyspaces.getConfig(name);
    return KeyspacePolicy.session(name, own.getDuration("sla"))
        .withPartitions(1)
        .with(Targets.oneOf(Propagation.class, own, "propagation"))
        .with(Targets.oneOf(StatePayload.class, own, "payload"));
  }

  private static void sequence(
      Config config, int count, int perSecond, int seed, String row, Turn.Rows rows) {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long cpu = threads.getCurrentThreadCpuTime();
    List<String> dcs = Topology.names(count);
    QuietCluster cluster =
        new QuietCluster(
            dcs,
            policy(config.getConfig("cluster.keyspaces")),
            Topology::delayMillis,
            Topology.JITTER_MILLIS,
            seed);
    long before = cluster.linkBytes();
    int one = CommandSequence.plan(1, perSecond).size();
    int times = (int) Math.max(1, config.getDouble("seconds") * perSecond / one);
    List<Timed> plan = CommandSequence.plan(times, perSecond);
    for (int i = 0; i < plan.size(); i++) {
      Timed timed = plan.get(i);
      cluster.updateIn(
          timed.atNanos(),
          dcs.get(i % dcs.size()),
          timed.command().object(),
          CommandSequence.TYPE,
          timed.command().operation());
    }
    cluster.runFor(plan.getLast().atNanos());
    Map<String, Set<Value>> expected = CommandSequence.expected();
    long polls = 0;
    for (String dc : dcs) {
      while (!isRight(cluster.store(dc), expected)) {
        if (polls++ > POLLS_MAX) {
          throw new OsierException(
              ErrorCode.INTERNAL,
              dc + " of " + dcs + " does not hold what it must, a minute after the last command");
        }
        cluster.runFor(POLL_NANOS);
      }
    }
    rows.add(row, "equal s", polls * POLL_NANOS / 1e9);
    // Frames that acknowledge the last updates are counted, too, as they are with processes.
    cluster.runFor(SETTLE_NANOS);
    double operations = plan.size();
    rows.add(row, "link bytes/operation", (cluster.linkBytes() - before) / operations);
    rows.add(
        row, "µs/op, all simulated", (threads.getCurrentThreadCpuTime() - cpu) / 1e3 / operations);
    long violations = 0;
    Histogram visible = new Histogram(3_600_000_000L, 2);
    for (String dc : dcs) {
      PartitionReport report = cluster.report(dc);
      violations += report.slaViolations();
      visible.add(report.arrived().visibilityMicros());
    }
    visible(row, visible, violations, rows);
  }

  private static boolean isRight(ObjectStore store, Map<String, Set<Value>> expected) {
    if (store.size() != expected.size()) {
      return false;
    }
    for (Map.Entry<String, Set<Value>> e : expected.entrySet()) {
      CrdtState state = store.get(new ObjectId(Key.of(e.getKey()), CommandSequence.TYPE));
      if (state == null) {
        return false;
      }
      Reading.Many shown = (Reading.Many) state.read(new Query.Whole());
      if (!new TreeSet<>(shown.values()).equals(e.getValue())) {
        return false;
      }
    }
    return true;
  }
}
