package io.osier.bench.sim.node;

import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.plan.Unit;
import io.osier.datacenter.partition.machine.Input;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The partitions of a datacenter in its present life: one for each unit that it holds. */
final class HeldUnits {
  private final Simulation simulation;
  private final SimDc dc;

  /** By unit; null for those that it does not hold. */
  private final List<@Nullable SimNode> nodes = new ArrayList<>();

  private final List<SimNode> all = new ArrayList<>();

  /** Those of the life before. */
  private List<Unit> before = List.of();

  HeldUnits(Simulation simulation, SimDc dc) {
    this.simulation = simulation;
    this.dc = dc;
  }

  /** A process begins. */
  void starts() {
    simulation.holders().starts(dc.self().dc());
    before = all.stream().map(SimNode::unit).toList();
    nodes.clear();
    all.clear();
    simulation.units().forEach(unit -> nodes.add(null));
    openAll();
  }

  /** Opens what it holds and has not. */
  void openAll() {
    for (Unit unit : simulation.units()) {
      if (find(unit) == null && simulation.holders().holds(dc.self().dc(), unit)) {
        SimNode node = new SimNode(simulation, dc, unit);
        nodes.set(unit.number(), node);
        all.add(node);
      }
    }
  }

  /** Whether it had a unit in the life before. */
  boolean hadBefore(Unit unit) {
    return before.contains(unit);
  }

  List<SimNode> all() {
    return all;
  }

  /** Null if it does not hold the unit. */
  @Nullable SimNode find(Unit unit) {
    return nodes.isEmpty() ? null : nodes.get(unit.number());
  }

  SimNode get(Unit unit) {
    return requireNonNull(find(unit), "it holds it");
  }

  /** They find out anew whether they have what those have that hold the same units now. */
  void compareAnew(long number) {
    String self = dc.self().dc();
    for (SimNode node : all) {
      List<String> peers = simulation.holders().peersOf(self, node.unit());
      List<String> sharers = Stream.concat(peers.stream(), Stream.of(self)).sorted().toList();
      boolean joins = simulation.holders().catchesUp(self, node.unit());
      node.submit(new Input.Peers(number, peers, sharers, joins, simulation.rank(self)));
    }
  }

  /** Whether it has all of a keyspace that the others had when they were compared last. */
  boolean isWhole(String keyspace, long number) {
    List<SimNode> of = all.stream().filter(n -> n.unit().policy().name().equals(keyspace)).toList();
    return !of.isEmpty() && of.stream().allMatch(n -> n.isComplete(number));
  }

  /** An input for the units of some keyspaces. */
  void submitTo(List<String> keyspaces, Input input) {
    for (SimNode node : all) {
      if (keyspaces.contains(node.unit().policy().name())) {
        node.submit(input);
      }
    }
  }
}
