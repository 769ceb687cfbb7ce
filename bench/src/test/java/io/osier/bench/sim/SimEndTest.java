package io.osier.bench.sim;

import static io.osier.bench.sim.world.Scheduler.SECOND;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.sim.check.ArbitrationCheckTest;
import io.osier.bench.sim.check.TransactionCheck;
import io.osier.bench.sim.check.TransactionCheck.Outcome;
import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Effect;
import io.osier.bench.sim.plan.Fault;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.plan.SimOptions;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Updates;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The end of a run, of datacenters that have done nothing, asks each of its checks. */
final class SimEndTest {
  private static final ReplicaId GONE = new ReplicaId("dc2", 1);

  /** Whether dc1 stores states without their content. */
  private boolean empties;

  private final Sabotage sabotage =
      new Sabotage() {
        @Override
        public @Nullable CrdtState stored(
            ReplicaId at, ObjectId object, @Nullable CrdtState before, CrdtState after) {
          return empties && at.equals(dc.self())
              ? CrdtState.bottom(object.type()).seen(after.context())
              : after;
        }
      };

  private final Simulation simulation =
      new Simulation(new SimOptions(2, EnumSet.noneOf(Fault.class), 1, true, sabotage), 1);

  private final Unit unit = simulation.units().getFirst();
  private final Checks checks = simulation.checks(unit);
  private final SimDc dc = simulation.dc("dc1");
  private final ObjectId counter =
      simulation.callers().workload(unit).accountable().stream()
          .filter(o -> o.type() == CrdtType.PN_COUNTER)
          .findFirst()
          .orElseThrow();

  @BeforeEach
  void start() {
    simulation.network().addLink("dc0", "dc1");
    simulation.network().addLink("dc1", "dc0");
    simulation.dcs().forEach(d -> d.start(d.self()));
    simulation.scheduler().runFor(10 * SECOND);
  }

  private void ends() {
    new SimEnd(simulation).restAndCheck();
  }

  private void isNoticed(String message) {
    assertThatThrownBy(this::ends).isInstanceOf(Violation.class).hasMessageContaining(message);
  }

  /** A client increments the counter at dc0, and it comes to dc1. */
  private void increments() {
    Request add =
        new Request.Write(
            unit.policy().name(),
            counter.key(),
            counter.type(),
            new Operation.Increment(1),
            VersionVector.EMPTY,
            0);
    simulation
        .dc("dc0")
        .node(unit)
        .command(
            this,
            add,
            (at, reply) -> {
              checks
                  .ledger()
                  .acknowledged(counter, ((Reply.Done) reply).dot(), new Effect(List.of(), 1));
              return () -> {};
            });
    simulation.scheduler().runFor(10 * SECOND);
  }

  @Test
  void nothing_andOneUpdate_areFine() {
    assertThatCode(this::ends).doesNotThrowAnyException();
    increments();
    assertThatCode(this::ends).doesNotThrowAnyException();
  }

  @Test
  void objectThatOneHasAlone_differs() {
    empties = true;
    increments();
    isNoticed(counter + " differs: dc0/1 has");
  }

  /** An update that is said to have been made, and that nobody has. */
  private void made(ReplicaId origin, CrdtState delta) {
    checks.once().made(new Shipment(counter, origin, 0, VersionVector.EMPTY, 1, 1, 0, delta));
  }

  private CrdtState increment(ReplicaId origin) {
    return CrdtState.bottom(counter.type()).prepare(new Operation.Increment(1), origin, 1, 0, 1, 0);
  }

  @Test
  void updateThatNobodyHas_isMissing() {
    made(GONE, increment(GONE));
    isNoticed("updates are missing or twice in " + counter);
  }

  @Test
  void updateThatItsOriginDoesNotReport_isNoticed() {
    made(dc.self(), increment(dc.self()));
    isNoticed("dc1/1/" + unit + " reports what cannot be (commit number)");
  }

  /**
   * It changes nothing, so no content lacks it; a reader who has seen it cannot be served, and no
   * report says that it has come, whichever is looked at first.
   */
  @Test
  void updateThatALastReadWaitsFor_isNoticed() {
    made(GONE, Updates.prepareNothing(counter.type(), GONE, 1, 0));
    assertThatThrownBy(this::ends)
        .isInstanceOf(Violation.class)
        .hasMessageMatching("(?s)dc0/1/.* (does not answer the last read|reports what).*");
  }

  @Test
  void acknowledgementOfWhatIsNotThere_isNoticed() {
    checks.ledger().acknowledged(counter, new Dot(dc.self(), 1), new Effect(List.of(), 3));
    isNoticed("shows 0 of " + counter + "; acknowledged were 3");
  }

  @Test
  void committedTransactionThatIsNotThere_isNoticed() {
    int number = checks.transactions().begins(Set.of(0), TransactionCheck.NONE);
    checks.transactions().ended(number, Outcome.COMMITTED, dc.self());
    isNoticed("dc0/1 lacks transaction " + number + " of dc1/1");
  }

  @Test
  void transactionsInACircle_areNoticed() {
    int one = checks.transactions().begins(Set.of(0), TransactionCheck.NONE);
    int two = checks.transactions().begins(Set.of(0), ArbitrationCheckTest.numbers(List.of(one)));
    checks.transactions().saw(one, ArbitrationCheckTest.numbers(List.of(two)));
    isNoticed("so the last by the first");
  }

  @Test
  void bytesUnderWay_areNoticed() {
    dc.links().window("dc0").take(7);
    isNoticed("the window of dc1/1 to dc0 counts 7 bytes, and its streams have 0 under way");
  }

  @Test
  void changeWithoutARecord_isNoticed() {
    ObjectId set = new ObjectId(Key.of("set"), CrdtType.AW_SET);
    dc.node(unit).store().put(set, CrdtState.bottom(CrdtType.AW_SET));
    assertThatThrownBy(() -> simulation.scheduler().runFor(10 * SECOND))
        .isInstanceOf(Violation.class)
        .hasMessage("dc1/1/" + unit + " changes " + set + " without a record");
  }
}
