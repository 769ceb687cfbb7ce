package io.osier.bench.sim;

import static io.osier.bench.sim.world.Scheduler.SECOND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Fault;
import io.osier.bench.sim.plan.SimOptions;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.SimLink;
import io.osier.bench.sim.world.Violation;
import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.propagation.host.LinkWindow;
import io.osier.propagation.host.Timeliness;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import io.osier.propagation.wire.Shipment;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What counts as under way: what this life of a process has sent, and nothing of former ones. */
final class FlowCheckTest {
  private static final long EPOCH = 1;

  private Simulation simulation;
  private SimDc dc;
  private FlowCheck flow;

  FlowCheckTest() {
    use(new Simulation(new SimOptions(2, EnumSet.noneOf(Fault.class), 1), 1));
  }

  private void use(Simulation of) {
    simulation = of;
    dc = of.dc("dc0");
    flow = of.flow();
  }

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
            CrdtState.bottom(CrdtType.AW_SET));
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
    dc.start(dc.self());
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
    return reports(stream, PartitionReport.Peer::to);
  }

  private Map<Unit, PartitionReport> reports(
      String stream, Function<PartitionReport.Peer, PartitionReport.To> to) {
    Map<Unit, PartitionReport> reports = new LinkedHashMap<>();
    for (Unit unit : simulation.units()) {
      PartitionReport r = dc.node(unit).inspect();
      List<PartitionReport.Peer> peers =
          r.peers().stream()
              .map(
                  p ->
                      new PartitionReport.Peer(
                          p.dc(), p.incarnation(), p.connected(), stream, to.apply(p), p.from()))
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
              r.memory(),
              r.about()));
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

  /** A run whose objects may be larger than its windows. */
  private static Simulation ofLargeObjects() {
    SimOptions options = new SimOptions(2, EnumSet.of(Fault.LARGE), 1);
    return LongStream.rangeClosed(1, 100)
        .mapToObj(seed -> new Simulation(options, seed))
        .filter(s -> s.objectBytesMax() > s.profile().windowBytes())
        .filter(s -> !s.units().getFirst().hasLittleMemory())
        .findFirst()
        .orElseThrow();
  }

  /** Looks on while a stream that has something under way, or not, does not get on. */
  private static void looksAtLargeObjects(boolean isFull, long inFlightBytes) {
    FlowCheckTest of = new FlowCheckTest();
    of.use(ofLargeObjects());
    of.start();
    SimLink link = of.simulation.network().link("dc0", "dc1");
    of.simulation.scheduler().runFor(20 * SECOND);
    of.dc.links().window("dc1").take(inFlightBytes);
    for (int i = 0; i < 400; i++) {
      of.simulation.scheduler().runFor(SECOND);
      if (isFull) {
        link.isFull();
      }
      Map<Unit, PartitionReport> reports =
          of.reports("catching-up", p -> lagging(p, 0, inFlightBytes));
      reports.keySet().removeIf(u -> u.number() != 0);
      of.flow.look(of.dc, reports);
    }
  }

  /** Where windows hold no whole object, a stream that gets on may never catch up. */
  @Test
  void streamOfLargeObjectsThatDoesNotCatchUp_isNoticed_unlessTheWindowIsFull() {
    assertThatThrownBy(() -> looksAtLargeObjects(false, 0))
        .hasMessageContaining("could have caught dc1 up");
    assertThatCode(() -> looksAtLargeObjects(true, 0)).doesNotThrowAnyException();
  }

  /** A window stays full where nothing is acknowledged: that is noticed, full or not. */
  @Test
  void streamOfLargeObjectsThatStandsStill_isNoticed_thoughTheWindowIsFull() {
    assertThatThrownBy(() -> looksAtLargeObjects(true, 1_000))
        .hasMessageContaining(
            "and 1000 bytes under way for dc1, of which nothing was acknowledged");
  }

  /** What it lacks later it is given beside its updates, within their bounds. */
  @Test
  void streamThatHasCaughtUpOnce_mayDoSoAgain() {
    looksFor(60, "streaming");
    assertThatCode(() -> looksFor(240, "catching-up")).doesNotThrowAnyException();
  }

  /** Of a stream that lacks an acknowledgement, and has none of its bytes under way. */
  private static PartitionReport.To lagging(PartitionReport.Peer peer, long inFlightBytes) {
    return lagging(peer, 1, inFlightBytes);
  }

  private static PartitionReport.To lagging(
      PartitionReport.Peer peer, long updates, long inFlightBytes) {
    return new PartitionReport.To(
        updates, 0, 0, Timeliness.NONE, inFlightBytes, 0, 0, 0, peer.to().roundTimes());
  }

  @Test
  void streamOfWhichNothingIsAcknowledged_isNoticed() {
    looksFor(60, "streaming");
    Map<Unit, PartitionReport> lagging = reports("streaming", p -> lagging(p, 0));
    flow.look(dc, lagging);
    simulation.scheduler().runFor(60 * SECOND);
    assertThatThrownBy(() -> flow.look(dc, lagging))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("dc0/1/" + simulation.units().getFirst())
        .hasMessageContaining("has 1 updates and 0 bytes under way for dc1, of which nothing was");
  }

  /** While the link is faulty, and in the time that a stream has to go on, nothing is expected. */
  @Test
  void streamOverAFaultyLink_needNotMove() {
    looksFor(60, "streaming");
    Map<Unit, PartitionReport> lagging = reports("streaming", p -> lagging(p, 0));
    simulation.network().link("dc0", "dc1").setLoss(0.5);
    simulation.scheduler().runFor(60 * SECOND);
    assertThatCode(() -> flow.look(dc, lagging)).doesNotThrowAnyException();
    simulation.network().link("dc0", "dc1").setLoss(0);
    simulation.scheduler().runFor(20 * SECOND);
    assertThatCode(() -> flow.look(dc, lagging)).doesNotThrowAnyException();
  }

  @Test
  void windowThatCountsWhatIsNotUnderWay_isNoticed() {
    looksFor(5, "streaming");
    dc.links().window("dc1").take(5);
    assertThatThrownBy(() -> looksFor(1, "streaming"))
        .isInstanceOf(Violation.class)
        .hasMessage("the window of dc0/1 to dc1 counts 5 bytes, and its streams have 0 under way");
    Map<Unit, PartitionReport> more = reports("streaming", p -> lagging(p, 6));
    assertThatThrownBy(() -> flow.look(dc, more)).hasMessageContaining("counts 5 bytes, and");
  }

  @Test
  void streamThatTakesMoreThanItsWindow_isNoticed() {
    LinkWindow window = flow.witnessed(dc, simulation.units().getFirst()).window("dc1");
    window.take(simulation.profile().windowBytes());
    assertThatThrownBy(() -> window.take(1))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("sends dc1 more with");
    window.give(simulation.profile().windowBytes());
    assertThatCode(() -> window.take(1)).doesNotThrowAnyException();
  }

  /** Others have spent the window: a stream has a share of its own, and no more. */
  @Test
  void streamThatTakesMoreThanItsShare_ofASpentWindow_isNoticed() {
    int all = simulation.profile().windowBytes();
    Unit other = simulation.units().getLast();
    flow.witnessed(dc, other).window("dc1").take(all);
    LinkWindow window = flow.witnessed(dc, simulation.units().getFirst()).window("dc1");
    window.take(all / 16);
    assertThatThrownBy(() -> window.take(1)).hasMessageContaining("sends dc1 more with");
  }

  @Test
  void peerThatIsNotDialled_isNoticed() {
    looksFor(30, "streaming");
    simulation.network().link("dc0", "dc1").setUp(false); // and the transport does not know
    assertThatCode(() -> looksFor(55, "streaming")).doesNotThrowAnyException();
    assertThatThrownBy(() -> looksFor(10, "streaming"))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("dc0>dc1 could be connected for 61 s, and is not");
  }

  @Test
  void whatIsUnderWayInTheEnd_isNoticed() {
    assertThatCode(() -> flow.ended(dc)).doesNotThrowAnyException();
    dc.links().window("dc1").take(5);
    assertThatThrownBy(() -> flow.ended(dc))
        .isInstanceOf(Violation.class)
        .hasMessage("at the end dc0/1 holds 5 bytes for dc1 in its window");
  }

  /** What others claim to have, and nobody ever had, is waited for in vain. */
  @Test
  void processThatDoesNotCatchUp_isNoticed() {
    Simulation boasting =
        new Simulation(
            new SimOptions(3, EnumSet.noneOf(Fault.class), 1, true, LinkSabotages.boasting()), 1);
    for (String from : boasting.names()) {
      boasting.names().stream()
          .filter(to -> !to.equals(from))
          .forEach(to -> boasting.network().addLink(from, to));
    }
    boasting.dcs().forEach(d -> d.start(d.self()));
    boasting.scheduler().runFor(80 * SECOND);
    assertThatCode(() -> boasting.dcs().forEach(boasting::report)).doesNotThrowAnyException();
    boasting.scheduler().runFor(120 * SECOND);
    assertThatThrownBy(() -> boasting.dcs().forEach(boasting::report))
        .isInstanceOf(Violation.class)
        .hasMessageMatching("dc0/1/causal\\.0 could have caught up for \\d+ s, and has not");
  }
}
