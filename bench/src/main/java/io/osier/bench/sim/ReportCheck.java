package io.osier.bench.sim;

import io.osier.bench.sim.node.NodeLimits;
import io.osier.bench.sim.node.SimNode;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.KeyspacePolicy;
import io.osier.core.KeyspacePolicy.Propagation;
import io.osier.core.ReplicaId;
import io.osier.core.memory.Budget;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.propagation.host.StreamSettings;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a partition reports of itself is sane: counters never fall, commit numbers and objects are
 * those that were counted here, only an adaptive keyspace switches modes, and at the end nothing is
 * dirty, under way or behind.
 */
final class ReportCheck {
  /** One thing alone may take more than a budget: an update of a small object, in the heap. */
  private static final long SMALL_THING_BYTES = 32 << 10;

  private final Unit unit;
  private final Map<SimNode, List<Long>> before = new HashMap<>();
  private final Map<ReplicaId, PartitionReport> last = new HashMap<>();

  ReportCheck(Unit unit) {
    this.unit = unit;
  }

  /** The last report of each incarnation. */
  Map<ReplicaId, PartitionReport> last() {
    return last;
  }

  /**
   * Checks a report during the run.
   *
   * @param committed the last commit number that was seen of each incarnation
   */
  void during(SimNode node, PartitionReport r, Map<ReplicaId, Long> committed, int peers) {
    // What is not yet durable is not yet counted here.
    require(
        node,
        r,
        "commit number",
        r.content().committed() >= committed.getOrDefault(node.self(), 0L));
    require(node, r, "through", r.content().through().get(node.self()) == r.content().committed());
    committed.forEach(
        (origin, number) ->
            require(
                node,
                r,
                "through",
                origin.equals(node.self()) || r.content().through().get(origin) <= number));
    require(node, r, "objects", r.content().objects() == keys(node));
    require(
        node,
        r,
        "dirty objects",
        r.shipped().dirtyObjects() >= 0 && r.shipped().dirtyObjects() <= r.content().committed());
    for (Budget.Usage usage : r.memory()) {
      require(node, r, "memory of " + usage.name(), isWithin(usage));
    }
    boolean adaptive = unit.policy().propagation() == Propagation.ADAPTIVE;
    require(node, r, "mode switches", adaptive || r.modes().switched() == 0);
    require(node, r, "op mode", unit.policy().propagation() != Propagation.OP || isOpOnly(r));
    require(node, r, "peers", r.peers().size() == peers);
    for (PartitionReport.Peer p : r.peers()) {
      require(
          node,
          r,
          "lag",
          p.to().lagUpdates() >= 0 && p.to().lagUpdates() <= r.content().committed());
      require(
          node,
          r,
          "overdue",
          p.to().timeliness().overdue() >= 0
              && p.to().timeliness().overdue() <= p.to().lagUpdates()
              && p.to().timeliness().late() <= p.to().timeliness().confirmed());
      require(node, r, "unheard", p.from().unheardNanos() >= 0);
      require(node, r, "in flight", p.to().inFlightBytes() >= 0);
      require(node, r, "behind", p.from().behindUpdates() >= 0);
    }
    require(node, r, "hot objects", r.modes().hot().size() <= unit.adaptation().topK());
    List<Long> counters = counters(r);
    List<Long> earlier = before.put(node, counters);
    for (int i = 0; earlier != null && i < counters.size(); i++) {
      require(node, r, "a counter fell", counters.get(i) >= earlier.get(i));
    }
    last.put(node.self(), r);
  }

  /** What is kept for those who are away does not grow with the time that they are. */
  private boolean isWithin(Budget.Usage usage) {
    StreamSettings.Memory memory =
        unit.hasLittleMemory() ? NodeLimits.LITTLE_MEMORY : StreamSettings.Memory.DEFAULT;
    long one =
        unit.policy().limits().equals(KeyspacePolicy.Limits.DEFAULT)
            ? SMALL_THING_BYTES
            : SMALL_THING_BYTES + 2L * unit.policy().limits().objectBytesMax();
    return switch (usage.name()) {
      case "trails" -> usage.used() <= memory.trails() + one;
      case "relays" -> usage.used() <= memory.relays() + one;
      default -> true;
    };
  }

  private static boolean isOpOnly(PartitionReport r) {
    return r.shipped().states() == 0
        && r.modes().stateObjects() == 0
        && r.shipped().dirtyObjects() == 0;
  }

  private static long keys(SimNode node) {
    return node.store().size();
  }

  private static List<Long> counters(PartitionReport r) {
    return List.of(
        r.content().committed(),
        r.content().objects() + r.content().forgottenObjects(),
        r.modes().switched(),
        r.arrived().applied(),
        r.shipped().bytes(),
        r.shipped().arrivedBytes(),
        r.shipped().opBytes(),
        r.shipped().ops(),
        r.shipped().states(),
        r.shipped().catchUps(),
        r.arrived().gapsSeen(),
        r.arrived().healed(),
        r.arrived().pulled(),
        r.slaViolations(),
        r.arrived().late().outage(),
        r.arrived().visibilityMicros().getTotalCount());
  }

  /** Whether nothing is dirty, under way or behind. */
  static boolean isQuiet(PartitionReport r) {
    return r.shipped().dirtyObjects() == 0
        && r.peers().stream()
            .allMatch(
                p ->
                    p.connected()
                        && p.stream().equals("streaming")
                        && p.to().lagUpdates() == 0
                        && p.to().inFlightBytes() == 0
                        && p.from().behindUpdates() == 0);
  }

  /**
   * Checks a report at the end.
   *
   * @param kept the last commit number of each incarnation that kept its memory
   * @param faultless whether no fault was ever injected
   * @param inTime whether nothing may have been late
   */
  void ended(
      SimNode node,
      PartitionReport r,
      Map<ReplicaId, Long> kept,
      boolean faultless,
      boolean inTime) {
    require(node, r, "not quiet", isQuiet(r));
    kept.forEach(
        (origin, number) ->
            require(node, r, "through", r.content().through().get(origin) == number));
    require(
        node, r, "late", !inTime || (r.slaViolations() == 0 && r.arrived().late().outage() == 0));
    if (faultless) {
      long others =
          kept.entrySet().stream()
              .filter(e -> !e.getKey().equals(node.self()))
              .mapToLong(Map.Entry::getValue)
              .sum();
      require(node, r, "applied", r.arrived().applied() <= others);
    }
  }

  private void require(SimNode node, PartitionReport report, String what, boolean holds) {
    if (!holds) {
      throw new Violation("", "%s reports what cannot be (%s): %s", node, what, report);
    }
  }
}
