package io.osier.bench.experiment;

import io.osier.bench.cluster.Topology;
import io.osier.bench.experiment.CommandSequence.Timed;
import io.osier.bench.sim.QuietCluster;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.Causal;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.partition.PartitionReport;
import io.osier.datacenter.store.ObjectStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.HdrHistogram.Histogram;

/** What {@link SequenceLoad} does, in virtual time, with the same links. */
public final class SimulatedSequence {
  private static final long POLL_NANOS = 5_000_000;
  private static final long POLLS_MAX = 60_000_000_000L / POLL_NANOS;

  private SimulatedSequence() {}

  /**
   * What a run did.
   *
   * @param equalSeconds from the last command until every datacenter was right
   * @param bytes of all frames
   * @param visibilityMicros from the commit of each shipment's oldest update until it was visible
   */
  public record Outcome(
      long operations,
      double equalSeconds,
      long bytes,
      long violations,
      Histogram visibilityMicros) {}

  /**
   * Runs in a new cluster.
   *
   * @throws OsierException INTERNAL if the datacenters do not hold within a virtual minute what
   *     they must
   */
  public static Outcome run(
      int count, Alternative alternative, Duration sla, int times, int perSecond, long seed) {
    List<String> dcs = Topology.names(count);
    QuietCluster cluster =
        new QuietCluster(
            dcs, alternative.policy(sla), Topology::delayMillis, Topology.JITTER_MILLIS, seed);
    long before = cluster.linkBytes();
    List<Timed> plan = CommandSequence.plan(0, times, perSecond);
    for (int i = 0; i < plan.size(); i++) {
      Timed timed = plan.get(i);
      cluster.updateIn(
          timed.atNanos(),
          dcs.get(i % dcs.size()),
          timed.command().object(),
          SequenceLoad.TYPE,
          timed.command().operation());
    }
    cluster.runFor(plan.getLast().atNanos());
    Map<String, Set<Value>> expected = CommandSequence.expected(0);
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
    double equal = polls * POLL_NANOS / 1e9;
    // What is acknowledged later belongs to it, as it does in processes.
    cluster.runFor(SequenceLoad.SETTLE_NANOS);
    long violations = 0;
    Histogram visible = new Histogram(3_600_000_000L, 2);
    for (String dc : dcs) {
      PartitionReport report = cluster.report(dc);
      violations += report.slaViolations();
      visible.add(report.arrived().visibilityMicros());
    }
    return new Outcome(plan.size(), equal, cluster.linkBytes() - before, violations, visible);
  }

  private static boolean isRight(ObjectStore store, Map<String, Set<Value>> expected) {
    if (store.size() != expected.size()) {
      return false;
    }
    for (Map.Entry<String, Set<Value>> e : expected.entrySet()) {
      Causal state = store.get(new ObjectId(Key.of(e.getKey()), SequenceLoad.TYPE));
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
