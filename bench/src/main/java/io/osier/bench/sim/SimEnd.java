package io.osier.bench.sim;

import static io.osier.bench.sim.world.Scheduler.MILLI;
import static io.osier.bench.sim.world.Scheduler.SECOND;
import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.check.ConvergenceCheck;
import io.osier.bench.sim.check.TransactionCheck;
import io.osier.bench.sim.check.TransactionView;
import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.node.SimNode;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Scheduler;
import io.osier.bench.sim.world.SimNetwork;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The end of a run: waits until everything is equal and quiet, and checks what is left. */
final class SimEnd {
  /** How long after the last fault everything must be settled, beyond δ. */
  static final long SETTLE_NANOS = 60 * SECOND;

  private static final long STEP_NANOS = 500 * MILLI;

  private final Simulation simulation;
  private final Scheduler scheduler;
  private final SimNetwork network;

  SimEnd(Simulation simulation) {
    this.simulation = simulation;
    this.scheduler = simulation.scheduler();
    this.network = simulation.network();
  }

  /**
   * Lets time pass until everything is settled, and checks it.
   *
   * @return how long that took
   */
  long restAndCheck() {
    long took = comeToRest();
    if (simulation.holders().isChanging()) {
      throw new Violation("", "who was to become or to be no holder has not");
    }
    simulation.dcs().forEach(simulation.flow()::ended);
    // Whoever waits for another datacenter's answer still is told nothing, and it may be done.
    simulation.dcs().forEach(simulation.callers()::crashed);
    for (Unit unit : simulation.units()) {
      check(unit);
      scheduler.throwFailure();
    }
    return took;
  }

  private long comeToRest() {
    long slaMax =
        simulation.units().stream().mapToLong(u -> u.policy().sla().toNanos()).max().orElse(0);
    long began = scheduler.nanos();
    long took;
    do {
      while (!isAtRest()) {
        if (scheduler.nanos() - began > slaMax + SETTLE_NANOS) {
          return scheduler.nanos() - began; // the checks will say what is wrong
        }
        scheduler.runFor(STEP_NANOS);
      }
      took = scheduler.nanos() - began;
      scheduler.runFor(2 * SECOND);
    } while (!isAtRest()); // rights of bounded counters may have been on their way
    return took;
  }

  private boolean isAtRest() {
    if (!network.down().isEmpty()
        || simulation.upCount() < simulation.dcs().size()
        || simulation.holders().isChanging()) {
      return false;
    }
    boolean quiet = true;
    for (SimDc dc : simulation.dcs()) {
      quiet &= simulation.report(dc).stream().allMatch(ReportCheck::isQuiet);
      // Healing may still send what the other has by now, and a large object takes seconds.
      quiet &= FlowCheck.isEmpty(dc);
    }
    for (Unit unit : simulation.units()) {
      // Over a narrow link a process that has just come back asks for pages that bring nothing new.
      quiet &= simulation.holders().of(unit).stream().allMatch(dc -> isAtRest(dc.node(unit)));
      quiet =
          quiet
              && ConvergenceCheck.isAtRest(
                  simulation.holders().of(unit).stream().map(dc -> dc.node(unit).store()).toList());
    }
    return quiet;
  }

  private static boolean isAtRest(SimNode node) {
    return node.isReady() && node.store().durable() == node.store().recorded();
  }

  private void check(Unit unit) {
    Checks of = simulation.checks(unit);
    Map<ReplicaId, Map<ObjectId, CrdtState>> contents = new TreeMap<>();
    for (SimDc dc : simulation.holders().of(unit)) {
      contents.put(dc.replica(unit), ConvergenceCheck.content(dc.node(unit).store()));
    }
    ConvergenceCheck.ended(unit, contents);
    simulation.dcs().stream()
        .filter(dc -> !dc.holds(unit))
        .forEach(dc -> simulation.holders().rights().ended(unit, dc.self().dc(), contents));
    of.once().ended(contents, simulation.losses().lost(unit));
    Map<ReplicaId, Long> kept = new TreeMap<>(of.once().committed());
    kept.keySet().removeAll(simulation.losses().lost(unit));
    boolean faultless = simulation.profile().faults().isEmpty();
    for (SimDc dc : simulation.holders().of(unit)) {
      SimNode node = dc.node(unit);
      Map<ObjectId, CrdtState> content =
          requireNonNull(contents.get(dc.replica(unit)), "was read above");
      for (ObjectId object : simulation.callers().workload(unit).accountable()) {
        readLast(node, object, content.get(object), VersionVector.of(kept));
      }
      if (unit.isCausal()) {
        checkTransactions(node, content);
      }
      boolean inTime = faultless && !wasHeldBack() && network.allows(unit.policy().sla().toNanos());
      of.reports().ended(node, simulation.report(node), kept, faultless, inTime);
    }
    of.transactions().ended();
    simulation.callers().mortals(unit).ended();
    simulation.callers().programs(unit).ended();
  }

  /**
   * Whether a causal keyspace with little memory held streams back: then no bound holds, as {@link
   * SlaCheck} says.
   */
  private boolean wasHeldBack() {
    return simulation.units().stream()
        .filter(u -> u.isCausal() && u.hasLittleMemory())
        .flatMap(u -> simulation.holders().of(u).stream().map(dc -> simulation.report(dc.node(u))))
        .flatMap(report -> report.memory().stream())
        .anyMatch(usage -> usage.name().equals("waiting") && usage.spent() > 0);
  }

  private void checkTransactions(SimNode node, Map<ObjectId, CrdtState> content) {
    List<Reading> readings = new ArrayList<>();
    for (ObjectId object : TransactionView.objects()) {
      CrdtState state = content.getOrDefault(object, CrdtState.bottom(object.type()));
      readings.add(state.read(new Query.Whole()));
    }
    TransactionCheck check = simulation.checks(node.unit()).transactions();
    TransactionView view = TransactionView.of(readings);
    check.snapshot("the end", node.self(), view, 0, TransactionCheck.NONE);
    check.ended(node.self(), view, simulation.losses().lost(node.unit()));
  }

  /** Reads through the front door, having seen all that was kept: that must be there at once. */
  private void readLast(
      SimNode node, ObjectId object, @Nullable CrdtState state, VersionVector after) {
    Map<ReplicaId, Long> survived = new TreeMap<>();
    simulation
        .losses()
        .lost(node.unit())
        .forEach(r -> survived.put(r, state == null ? 0 : state.context().through(r)));
    Request read =
        new Request.Read(
            node.unit().policy().name(),
            object.key(),
            Optional.of(object.type()),
            new Query.Whole(),
            after,
            false,
            0);
    node.command(
        this,
        read,
        (at, reply) -> {
          if (!(reply instanceof Reply.Answer answer)) {
            throw new Violation(
                node.name(object), "%s does not answer the last read: %s", node, reply);
          }
          return () ->
              simulation
                  .checks(node.unit())
                  .ledger()
                  .ended(node.self(), object, answer.reading().orElseThrow(), survived);
        });
  }
}
