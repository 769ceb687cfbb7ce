package io.osier.bench.sim;

import static io.osier.bench.sim.world.Scheduler.SECOND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Fault;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.plan.SimOptions;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.EnumSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Updates that become visible too late, among datacenters that are idle. */
final class SlaCheckTest {
  private static final ObjectId SET = new ObjectId(Key.of("s"), CrdtType.AW_SET);
  private static final long LONG_NANOS = 30 * SECOND;

  private final Simulation simulation =
      new Simulation(new SimOptions(2, EnumSet.noneOf(Fault.class), 1, true, Sabotage.NONE), 1);

  private final Unit unit = simulation.units().getLast();
  private final SlaCheck check = simulation.checks(unit).sla();
  private final SimDc origin = simulation.dc("dc0");
  private final SimDc there = simulation.dc("dc1");

  @BeforeEach
  void start() {
    assertThat(unit.isCausal()).isFalse();
    simulation.network().addLink("dc0", "dc1");
    simulation.network().addLink("dc1", "dc0");
    simulation.dcs().forEach(dc -> dc.start(dc.self()));
    for (int i = 0; i < 60; i++) {
      simulation.scheduler().runFor(SECOND);
      simulation.dcs().forEach(simulation::report); // streams are seen to catch up
    }
  }

  /** An update that dc0 says it has made now, and that goes nowhere. */
  private void made(int number, CausalContext before) {
    check.made(origin.node(unit), SET, number, before, simulation.scheduler().nanos());
  }

  /** A client makes an update at dc0, which comes to dc1 in time. */
  private void makes() {
    Request add =
        new Request.Write(
            unit.policy().name(),
            SET.key(),
            SET.type(),
            new Operation.Add(Value.of("a")),
            VersionVector.EMPTY,
            0);
    origin
        .node(unit)
        .command(
            this,
            add,
            (at, reply) -> {
              assertThat(reply).isInstanceOf(Reply.Done.class);
              return () -> {};
            });
    timeGoesBy(LONG_NANOS);
  }

  private void timeGoesBy(long nanos) {
    simulation.scheduler().runFor(nanos);
  }

  @Test
  void updateThatIsVisibleInTime_isFine() {
    makes();
    assertThat(check.checked()).isEqualTo(1);
    assertThat(check.excused()).isZero();
  }

  @Test
  void updateThatIsNotVisible_isNoticedAtItsDeadline() {
    made(1, CausalContext.EMPTY);
    timeGoesBy(unit.policy().sla().toNanos() / 2);
    assertThatThrownBy(() -> timeGoesBy(unit.policy().sla().toNanos()))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("dc0/1:1 of " + SET)
        .hasMessageContaining("is not visible at dc1/1 after")
        .hasMessageContaining("(SLA " + unit.policy().sla().toMillis() + " ms");
    assertThat(check.checked()).isZero();
  }

  @Test
  void laterUpdateThatIsNotVisible_isNoticed() {
    makes();
    made(2, CausalContext.of(new Dot(origin.self(), 1)));
    assertThatThrownBy(() -> timeGoesBy(LONG_NANOS)).hasMessageContaining("dc0/1:2 of " + SET);
  }

  /** It has until the deadline of what was acknowledged in front of its partition. */
  @Test
  void updateThatWasAcknowledgedBefore_isDueEarlier() {
    long ago = unit.policy().sla().toNanos() / 2;
    check.made(
        origin.node(unit), SET, 1, CausalContext.EMPTY, simulation.scheduler().nanos() - ago);
    assertThatThrownBy(() -> timeGoesBy(unit.policy().sla().toNanos() * 9 / 10))
        .hasMessageContaining("is not visible at dc1/1");
  }

  @Test
  void faultyLink_orSlowDatacenter_excusesIt() {
    made(1, CausalContext.EMPTY);
    simulation.network().link("dc0", "dc1").setLoss(0.1);
    timeGoesBy(LONG_NANOS);
    simulation.network().link("dc0", "dc1").setLoss(0);
    made(1, CausalContext.EMPTY); // the fault was too little ago
    timeGoesBy(LONG_NANOS);
    made(1, CausalContext.EMPTY);
    there.slow(SECOND);
    timeGoesBy(LONG_NANOS);
    assertThat(check.checked()).isZero();
  }

  /** What it builds on may have to be fetched: that takes longer, and not for ever. */
  @Test
  void updateThatBuildsOnWhatIsMissing_isNoticedLater() {
    VersionVector missing = VersionVector.of(new ReplicaId("dc2", 1), 1);
    check.shipped(
        "dc1", new Shipment(SET, origin.self(), 0, missing, 1, 1, 0, CrdtState.bottom(SET.type())));
    made(1, CausalContext.EMPTY);
    timeGoesBy(unit.policy().sla().toNanos() * 2);
    assertThat(check.excused()).isEqualTo(1);
    assertThatThrownBy(() -> timeGoesBy(LONG_NANOS)).hasMessageContaining("dc0/1:1 of " + SET);
  }
}
