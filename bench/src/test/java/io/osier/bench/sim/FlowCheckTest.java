package io.osier.bench.sim;

import static io.osier.bench.sim.Scheduler.SECOND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.partition.PartitionReport;
import io.osier.propagation.host.LinkWindow;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import io.osier.propagation.wire.Shipment;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What counts as under way: what this life of a process has sent, and nothing of former ones. */
final class FlowCheckTest {
  private static final long EPOCH = 1;

  private final Simulation simulation =
      new Simulation(new SimOptions(2, EnumSet.noneOf(Fault.class), 1), 1);

  private final SimDc dc = simulation.dc("dc0");
  private final FlowCheck flow = simulation.network().flow();

  @BeforeEach
  void start() {
    simulation.network().addLink("dc0", "dc1");
    simulation.network().addLink("dc1", "dc0");
    simulation.dcs().forEach(d -> d.start(d.self()));
  }

  /** A frame that takes the whole window. */
  private void sendsWindow(long sequence) {
    Shipment shipment =
        new Shipment(
            new ObjectId(Key.of("k"), CrdtType.AW_SET),
            dc.self(),
            0,
            VersionVector.EMPTY,
            1,
            1,
            0,
            Causal.bottom(CrdtType.AW_SET));
    int shipments = simulation.profile().windowBytes() / FrameCodec.sizeOf(dc.self(), shipment) + 1;
    flow.sent(
        dc,
        "dc1",
        simulation.units().getFirst(),
        new Frame.Updates(
            Frame.Kind.CATCH_UP,
            EPOCH,
            sequence,
            1,
            VersionVector.EMPTY,
            Optional.empty(),
            false,
            0,
            Stream.generate(() -> shipment).limit(shipments).toList()));
  }

  @Test
  void moreThanTheWindow_isNoticed() {
    sendsWindow(1);
    assertThatThrownBy(() -> sendsWindow(2)).isInstanceOf(Violation.class);
  }

  @Test
  void acknowledged_leavesRoom() {
    sendsWindow(1);
    flow.received(
        dc, simulation.dc("dc1").self(), simulation.units().getFirst(), new Frame.Ack(EPOCH, 1));
    assertThatCode(() -> sendsWindow(2)).doesNotThrowAnyException();
  }

  /** Seed 225: it came in the place of one that was removed, and its epochs were the same. */
  @Test
  void newReceiver_hasAWindowOfItsOwn() {
    sendsWindow(1);
    assertThatCode(() -> sendsWindow(1)).doesNotThrowAnyException();
    assertThatThrownBy(() -> sendsWindow(2)).isInstanceOf(Violation.class);
  }

  /** Seed 153 with five datacenters: the peer had crashed, too, and numbered its epochs anew. */
  @Test
  void crashed_nothingOfTheFormerLifeIsUnderWay() {
    sendsWindow(98);
    simulation.crash(dc);
    simulation.restart(dc, dc.self());
    assertThatCode(() -> sendsWindow(1)).doesNotThrowAnyException();
  }

  /** What is pulled of large states is no update, and fills the window all the same. */
  @Test
  void linkWhoseWindowIsHalfFull_isNotHealthyThen_whateverFillsIt() {
    long half = simulation.profile().windowBytes() / 2;
    SimLink link = simulation.network().link("dc0", "dc1");
    link.setUp(true);
    LinkWindow window = flow.witnessed(dc, simulation.units().getFirst()).window("dc1");
    simulation.scheduler().runFor(SECOND);
    long now = simulation.scheduler().nanos();
    window.take(half - 1);
    assertThat(link.healthySinceNanos()).isLessThan(now);
    window.take(1);
    assertThat(link.healthySinceNanos()).isEqualTo(now);
  }

  /** What dc0 reports, with its streams in a state of our choosing. */
  private Map<Unit, PartitionReport> reports(String stream) {
    Map<Unit, PartitionReport> reports = new LinkedHashMap<>();
    for (Unit unit : simulation.units()) {
      PartitionReport r = dc.node(unit).inspect();
      List<PartitionReport.Peer> peers =
          r.peers().stream()
              .map(
                  p ->
                      new PartitionReport.Peer(
                          p.dc(), p.incarnation(), p.connected(), stream, p.to(), p.from()))
              .toList();
      reports.put(
          unit,
          new PartitionReport(
              r.partition(),
              r.content(),
              r.snapshots(),
              r.rights(),
              r.modes(),
              r.shipped(),
              r.arrived(),
              peers,
              r.memory()));
    }
    return reports;
  }

  private void looksFor(int seconds, String stream) {
    for (int i = 0; i < seconds; i++) {
      simulation.scheduler().runFor(SECOND);
      flow.look(dc, reports(stream));
    }
  }

  @Test
  void streamThatDoesNotCatchUp_isNoticed() {
    looksFor(60, "catching-up");
    assertThatThrownBy(() -> looksFor(240, "catching-up")).hasMessageContaining("caught dc1 up");
  }

  /** What it lacks later it is given beside its updates, within their bounds. */
  @Test
  void streamThatHasCaughtUpOnce_mayDoSoAgain() {
    looksFor(60, "streaming");
    assertThatCode(() -> looksFor(240, "catching-up")).doesNotThrowAnyException();
  }
}
