package io.osier.bench.sim.load;

import static io.osier.bench.sim.world.Scheduler.MILLI;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** A client that asks for keys of a unit in a wrong home of its keyspace, and must be refused. */
final class SimStray {
  private static final int PACE_MILLIS = 4_000;

  private final Simulation simulation;
  private final Unit unit;
  private final Random random;
  private int keys;

  SimStray(Simulation simulation, Unit unit) {
    this.simulation = simulation;
    this.unit = unit;
    this.random = new Random(simulation.profile().seed() * 53 + unit.number());
  }

  void start() {
    simulation
        .scheduler()
        .in(
            (1 + random.nextInt(PACE_MILLIS * simulation.profile().pace())) * MILLI,
            () -> {
              if (simulation.isLoading()) {
                ask();
                start();
              }
            });
  }

  private void ask() {
    SimDc dc = simulation.dc(simulation.anyDc(random));
    if (!dc.isUp()) {
      return;
    }
    Key key = unit.key(() -> "stray-wild-" + ++keys);
    List<String> others =
        unit.policy().partitioning().homes().keyspaces(Homes.base(unit.policy().name())).stream()
            .filter(name -> !name.equals(unit.policy().name()))
            .toList();
    String wrong = others.get(random.nextInt(others.size()));
    CrdtType type = CrdtType.PN_COUNTER;
    Operation operation = new Operation.Increment(1);
    Request request =
        switch (random.nextInt(3)) {
          case 0 -> new Request.Write(wrong, key, type, operation, VersionVector.EMPTY, 0);
          case 1 ->
              new Request.WriteAll(
                  wrong, List.of(new Request.Update(key, type, operation)), VersionVector.EMPTY, 0);
          default ->
              new Request.Evaluate(
                  wrong,
                  List.of(new Call.Update(key, type, operation, Optional.empty())),
                  List.of(),
                  VersionVector.EMPTY,
                  0);
        };
    simulation.trace().about(unit, "stray", "%s is asked for a key of %s: %s", dc, unit, request);
    dc.command(
        simulation.unit(wrong, key),
        this,
        request,
        (at, reply) -> {
          if (!(reply instanceof Reply.Failure)) {
            throw new Violation(unit, "%s does what is of another home: %s", dc.self(), request);
          }
          return () -> {};
        });
  }
}
