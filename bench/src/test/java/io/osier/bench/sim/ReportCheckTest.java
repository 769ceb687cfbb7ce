package io.osier.bench.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.adaptation.AdaptationSettings;
import io.osier.adaptation.Planner;
import io.osier.bench.sim.node.NodeLimits;
import io.osier.bench.sim.node.SimNode;
import io.osier.bench.sim.plan.Fault;
import io.osier.bench.sim.plan.SimOptions;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.KeyspacePolicy.Propagation;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.memory.Budget;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.propagation.host.LateCounts;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.Timeliness;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reports that no partition can make of itself. Time stands still: nothing is simulated. */
final class ReportCheckTest {
  private static final int PEERS = 1;
  private static final ReplicaId US = new ReplicaId("us", 1);

  private final Simulation simulation =
      new Simulation(new SimOptions(2, EnumSet.noneOf(Fault.class), 1), 1);

  private SimNode node;
  private PartitionReport good;

  @BeforeEach
  void start() {
    simulation.dcs().forEach(dc -> dc.start(dc.self()));
    node = simulation.dcs().iterator().next().node(simulation.units().getFirst());
    good = quiet(node.inspect());
  }

  /** Three updates here and one of another, all of which everybody has. */
  private PartitionReport quiet(PartitionReport r) {
    PartitionReport.Peer p = r.peers().getFirst();
    return new Altered(r)
        .content(
            new PartitionReport.Content(
                3, 0, 0, 0, VersionVector.of(Map.of(node.self(), 3L, US, 1L)), 0))
        .peer(new PartitionReport.Peer("us", 1, true, "streaming", p.to(), p.from()))
        .report();
  }

  /** A report with one of its parts replaced. */
  private record Altered(PartitionReport report) {
    Altered content(PartitionReport.Content content) {
      return with(content, report.modes(), report.shipped(), report.arrived(), report.peers());
    }

    Altered modes(PartitionReport.Modes modes) {
      return with(report.content(), modes, report.shipped(), report.arrived(), report.peers());
    }

    Altered shipped(int dirtyObjects, long bytes, long states) {
      PartitionReport.Shipped s = report.shipped();
      return with(
          report.content(),
          report.modes(),
          new PartitionReport.Shipped(
              dirtyObjects,
              bytes,
              s.arrivedBytes(),
              s.opBytes(),
              s.ops(),
              states,
              s.catchUps(),
              s.coordinationMicros()),
          report.arrived(),
          report.peers());
    }

    Altered arrived(long applied, LateCounts late) {
      PartitionReport.Arrived a = report.arrived();
      return with(
          report.content(),
          report.modes(),
          report.shipped(),
          new PartitionReport.Arrived(
              applied,
              a.waitingUpdates(),
              a.gapsSeen(),
              a.healed(),
              a.pulled(),
              late,
              a.visibilityMicros()),
          report.peers());
    }

    Altered peer(PartitionReport.Peer... peers) {
      return with(
          report.content(), report.modes(), report.shipped(), report.arrived(), List.of(peers));
    }

    Altered memory(Budget.Usage usage) {
      return new Altered(
          new PartitionReport(
              report.partition(),
              report.content(),
              report.snapshots(),
              report.rights(),
              report.modes(),
              report.shipped(),
              report.arrived(),
              report.peers(),
              List.of(usage),
              report.about()));
    }

    /** How far the peer is behind, and this behind the peer. */
    Altered behind(long lagUpdates, long inFlightBytes, long behindUpdates) {
      PartitionReport.Peer p = report.peers().getFirst();
      return peer(
          new PartitionReport.Peer(
              p.dc(),
              p.incarnation(),
              p.connected(),
              p.stream(),
              new PartitionReport.To(
                  lagUpdates, 0, 0, Timeliness.NONE, inFlightBytes, 0, 0, 0, p.to().roundTimes()),
              new PartitionReport.From(
                  VersionVector.EMPTY,
                  behindUpdates,
                  0,
                  0,
                  p.from().late(),
                  p.from().visibility())));
    }

    private Altered with(
        PartitionReport.Content content,
        PartitionReport.Modes modes,
        PartitionReport.Shipped shipped,
        PartitionReport.Arrived arrived,
        List<PartitionReport.Peer> peers) {
      return new Altered(
          new PartitionReport(
              report.partition(),
              content,
              report.snapshots(),
              report.rights(),
              modes,
              shipped,
              arrived,
              peers,
              report.memory(),
              report.about()));
    }
  }

  private Altered altered() {
    return new Altered(good);
  }

  private static ReportCheck check(Propagation propagation) {
    KeyspacePolicy policy = KeyspacePolicy.causal("k", Duration.ofSeconds(1)).with(propagation);
    return new ReportCheck(new Unit(0, policy, 0, AdaptationSettings.DEFAULT));
  }

  private Map<ReplicaId, Long> committed() {
    return Map.of(node.self(), 3L, US, 1L);
  }

  private void during(ReportCheck check, PartitionReport report) {
    check.during(node, report, committed(), PEERS);
  }

  private void isNoticed(String what, Altered bad) {
    isNoticed(Propagation.ADAPTIVE, what, bad);
  }

  private void isNoticed(Propagation propagation, String what, Altered bad) {
    assertThatThrownBy(() -> during(check(propagation), bad.report()))
        .isInstanceOf(Violation.class)
        .hasMessageStartingWith(node + " reports what cannot be (" + what + ")");
  }

  @Test
  void reportOfARest_isFine() {
    for (Propagation propagation : Propagation.values()) {
      ReportCheck check = check(propagation);
      during(check, good);
      during(check, good);
      check.ended(node, good, committed(), true, true);
      assertThat(check.last()).isEqualTo(Map.of(node.self(), good));
    }
  }

  private Altered content(long committed, long objects, Map<ReplicaId, Long> through) {
    return altered()
        .content(
            new PartitionReport.Content(committed, objects, 0, 0, VersionVector.of(through), 0));
  }

  @Test
  void contentThatWasNotCountedHere_isNoticed() {
    isNoticed("commit number", content(2, 0, Map.of(node.self(), 2L, US, 1L)));
    isNoticed("through", content(3, 0, Map.of(node.self(), 2L, US, 1L)));
    isNoticed("through", content(3, 0, Map.of(node.self(), 3L, US, 2L)));
    isNoticed("objects", content(3, 1, Map.of(node.self(), 3L, US, 1L)));
  }

  @Test
  void moreDirtyObjectsThanUpdates_areNoticed() {
    during(check(Propagation.ADAPTIVE), altered().shipped(3, 0, 0).report());
    isNoticed("dirty objects", altered().shipped(4, 0, 0));
    isNoticed("dirty objects", altered().shipped(-1, 0, 0));
  }

  @Test
  void statesOfAKeyspaceOfOperations_areNoticed() {
    isNoticed(Propagation.OP, "op mode", altered().shipped(0, 0, 1));
    isNoticed(Propagation.OP, "op mode", altered().shipped(1, 0, 0));
    during(check(Propagation.STATE), altered().shipped(1, 0, 1).report());
  }

  @Test
  void modesThatSwitch_whereNoneAdapts_areNoticed() {
    Altered switched =
        altered()
            .modes(
                new PartitionReport.Modes(
                    0, Map.of(Planner.Cause.STATES_BETTER, 1L), 0, List.of()));
    during(check(Propagation.ADAPTIVE), switched.report());
    isNoticed(Propagation.STATE, "mode switches", switched);
    isNoticed(Propagation.OP, "mode switches", switched);
  }

  @Test
  void moreHotObjectsThanAreAskedFor_areNoticed() {
    PartitionReport.Hot hot =
        new PartitionReport.Hot(new ObjectId(Key.of("k"), CrdtType.AW_SET), "op", 1, 1, 1, 1, 0);
    List<PartitionReport.Hot> many =
        Collections.nCopies(AdaptationSettings.DEFAULT.topK() + 1, hot);
    isNoticed("hot objects", altered().modes(new PartitionReport.Modes(0, Map.of(), 0, many)));
  }

  @Test
  void peersThatAreNone_orWithFiguresThatCannotBe_areNoticed() {
    isNoticed("peers", altered().peer());
    PartitionReport.Peer peer = good.peers().getFirst();
    isNoticed("peers", altered().peer(peer, peer));
    isNoticed("lag", altered().behind(4, 0, 0));
    isNoticed("lag", altered().behind(-1, 0, 0));
    isNoticed("in flight", altered().behind(0, -1, 0));
    isNoticed("behind", altered().behind(0, 0, -1));
  }

  /** One small thing may be more than what a budget leaves. */
  @Test
  void memoryOfWhatOthersMiss_beyondItsBudget_isNoticed() {
    StreamSettings.Memory budget =
        new Unit(0, KeyspacePolicy.causal("k", Duration.ZERO), 0, AdaptationSettings.DEFAULT)
                .hasLittleMemory()
            ? NodeLimits.LITTLE_MEMORY
            : StreamSettings.Memory.DEFAULT;
    Map<String, Long> limits = Map.of("trails", budget.trails(), "relays", budget.relays());
    limits.forEach(
        (name, limit) -> {
          long most = limit + (32 << 10);
          during(
              check(Propagation.ADAPTIVE),
              altered().memory(new Budget.Usage(name, limit, most, 0)).report());
          isNoticed(
              "memory of " + name, altered().memory(new Budget.Usage(name, limit, most + 1, 0)));
        });
  }

  @Test
  void counterThatFalls_isNoticed() {
    ReportCheck check = check(Propagation.ADAPTIVE);
    during(check, altered().shipped(0, 500, 0).report());
    assertThatCode(() -> during(check, altered().shipped(0, 500, 0).report()))
        .doesNotThrowAnyException();
    assertThatThrownBy(() -> during(check, altered().shipped(0, 499, 0).report()))
        .hasMessageStartingWith(node + " reports what cannot be (a counter fell)");
  }

  private void endIsNoticed(String what, Altered bad) {
    assertThatThrownBy(
            () -> check(Propagation.ADAPTIVE).ended(node, bad.report(), committed(), true, true))
        .isInstanceOf(Violation.class)
        .hasMessageStartingWith(node + " reports what cannot be (" + what + ")");
  }

  @Test
  void unrestInTheEnd_isNoticed() {
    PartitionReport.Peer p = good.peers().getFirst();
    endIsNoticed("not quiet", altered().shipped(1, 0, 0));
    endIsNoticed("not quiet", altered().behind(1, 0, 0));
    endIsNoticed("not quiet", altered().behind(0, 1, 0));
    endIsNoticed("not quiet", altered().behind(0, 0, 1));
    endIsNoticed(
        "not quiet",
        altered()
            .peer(
                new PartitionReport.Peer(
                    p.dc(), p.incarnation(), false, p.stream(), p.to(), p.from())));
    endIsNoticed(
        "not quiet",
        altered()
            .peer(
                new PartitionReport.Peer(
                    p.dc(), p.incarnation(), true, "catching-up", p.to(), p.from())));
  }

  @Test
  void whatIsMissing_late_orAppliedTwiceInTheEnd_isNoticed() {
    LateCounts none = new LateCounts(0, 0, 0, 0);
    endIsNoticed("through", content(3, 0, Map.of(node.self(), 3L)));
    endIsNoticed("applied", altered().arrived(2, none));
    endIsNoticed("late", altered().arrived(1, new LateCounts(1, 0, 0, 0)));
    endIsNoticed("late", altered().arrived(1, new LateCounts(0, 0, 0, 1)));
    check(Propagation.ADAPTIVE)
        .ended(
            node,
            altered().arrived(2, new LateCounts(1, 0, 0, 1)).report(),
            committed(),
            false,
            false);
  }
}
