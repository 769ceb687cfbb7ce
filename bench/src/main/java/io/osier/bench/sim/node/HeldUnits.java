package io.osier.bench.sim.node;

import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.check.ConvergenceCheck;
import io.osier.bench.sim.plan.Unit;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.shard.KeyspaceHolders;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The partitions of a datacenter in its present life: one for each unit that it holds. */
final class HeldUnits {
  private final Simulation simulation;
  private final SimDc dc;

  /** By the unit's number; null for a unit that the datacenter does not hold. */
  private final List<@Nullable SimNode> nodes = new ArrayList<>();

  private final List<SimNode> all = new ArrayList<>();
  private KeyspaceHolders holders;

  /** The units that the datacenter held in its former life. */
  private List<Unit> before = List.of();

  HeldUnits(Simulation simulation, SimDc dc) {
    this.simulation = simulation;
    this.dc = dc;
    this.holders = new KeyspaceHolders(dc.self().dc());
  }

  /** A new process begins, which has opened no keyspace yet. */
  void starts() {
    holders = new KeyspaceHolders(dc.self().dc());
    before = all.stream().map(SimNode::unit).toList();
    nodes.clear();
    all.clear();
    simulation.units().forEach(unit -> nodes.add(null));
  }

  /** Opens the partitions of a keyspace. */
  void open(String keyspace) {
    for (Unit unit : simulation.units()) {
      if (unit.policy().name().equals(keyspace)) {
        SimNode node = new SimNode(simulation, dc, unit);
        nodes.set(unit.number(), node);
        all.add(node);
      }
    }
  }

  /** Drops a keyspace, open or not, with all that the datacenter has stored of it. */
  void drop(String keyspace) {
    for (SimNode node : of(keyspace)) {
      nodes.set(node.unit().number(), null);
      all.remove(node);
      node.drop();
    }
    simulation.units().stream()
        .filter(unit -> unit.policy().name().equals(keyspace))
        .forEach(dc.disk()::drop);
  }

  /** Whether the datacenter held a unit in its former life. */
  boolean hadBefore(Unit unit) {
    return before.contains(unit);
  }

  List<SimNode> all() {
    return all;
  }

  /** The partitions of a keyspace. */
  List<SimNode> of(String keyspace) {
    return all.stream().filter(n -> n.unit().policy().name().equals(keyspace)).toList();
  }

  /** The partition of a unit; null if the datacenter does not hold it. */
  @Nullable SimNode find(Unit unit) {
    return nodes.isEmpty() ? null : nodes.get(unit.number());
  }

  SimNode get(Unit unit) {
    return requireNonNull(find(unit), "it holds it");
  }

  // ---------------------------------------------------------------- with whom they are shared

  /** The holders of keyspaces that were altered, as far as this datacenter knows. */
  KeyspaceHolders holders() {
    return holders;
  }

  /** A unit's policy with its present holders, as far as this datacenter knows. */
  KeyspacePolicy policy(Unit unit) {
    return holders.all(unit.policy());
  }

  /** Whether this datacenter serves clients of a unit. */
  boolean isServed(Unit unit) {
    boolean servesOn =
        simulation.options().sabotage().servesOn() && holders.hasCeased(unit.policy().name());
    return find(unit) != null && (servesOn || holders.isServed(policy(unit)));
  }

  /** As which replica a datacenter holds a unit. */
  ReplicaId holder(Unit unit, ReplicaId life) {
    return holders.holder(unit.policy().name(), life);
  }

  /** The other holders of a unit, as far as this datacenter knows. */
  List<String> peersOf(Unit unit) {
    return simulation.members().peersOf(dc.self().dc()).stream()
        .filter(policy(unit)::heldBy)
        .toList();
  }

  /** Lets each partition compare itself anew with the present holders of its unit. */
  void compareAnew(long number) {
    String self = dc.self().dc();
    for (SimNode node : all) {
      Unit unit = node.unit();
      List<String> peers = peersOf(unit);
      List<String> sharers =
          holders.sharers(policy(unit), Stream.concat(peers.stream(), Stream.of(self)).toList());
      boolean joins = holders.joins(unit.policy().name());
      node.submit(new Input.Peers(number, peers, sharers, joins, simulation.rank(self)));
    }
  }

  /**
   * Whether all partitions of a keyspace have what its other holders had at the last comparison.
   */
  boolean isWhole(String keyspace, long number) {
    List<SimNode> of = of(keyspace);
    return !of.isEmpty() && of.stream().allMatch(n -> n.isComplete(number));
  }

  /** Lets each partition take over the rights of a datacenter that was given up. */
  void inherit(String from) {
    for (SimNode node : all) {
      List<ObjectId> counters =
          ConvergenceCheck.content(node.store()).keySet().stream()
              .filter(o -> o.type() == CrdtType.BOUNDED_COUNTER)
              .toList();
      node.submit(new Input.Inherit(from, List.of()));
      node.submit(new Input.Inherit(from, counters));
    }
  }

  /** Since when all partitions have caught up; Long.MAX_VALUE if one has not. */
  long readySinceNanos() {
    return all.stream().mapToLong(SimNode::readySinceNanos).max().orElse(Long.MIN_VALUE);
  }

  /** A peer can be reached, and shares some keyspaces. */
  void up(ReplicaId peer, List<String> keyspaces) {
    for (SimNode node : List.copyOf(all)) {
      if (keyspaces.contains(node.unit().policy().name())) {
        node.submit(new Input.PeerUp(holder(node.unit(), peer)));
      }
    }
  }

  /** An input for the units of some keyspaces. */
  void submitTo(List<String> keyspaces, Input input) {
    for (SimNode node : List.copyOf(all)) {
      if (keyspaces.contains(node.unit().policy().name())) {
        node.submit(input);
      }
    }
  }
}
