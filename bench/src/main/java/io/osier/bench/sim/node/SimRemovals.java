package io.osier.bench.sim.node;

import static io.osier.bench.sim.world.Scheduler.MILLI;

import io.osier.bench.sim.Simulation;
import io.osier.core.KeyspacePolicy;
import io.osier.datacenter.control.execution.GivenUp;
import io.osier.datacenter.control.execution.LeaveProcedure;
import io.osier.datacenter.partition.machine.Input;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Gives up the keyspaces that a datacenter is to hold no more, each by production's procedure. */
final class SimRemovals {
  /** How long a walk through all objects takes. */
  private static final long WALK_NANOS = 50 * MILLI;

  private final Simulation simulation;
  private final SimDc dc;
  private final HeldUnits held;

  /** By keyspace; of the present life. */
  private final Map<String, LeaveProcedure> givenUp = new TreeMap<>();

  SimRemovals(Simulation simulation, SimDc dc, HeldUnits held) {
    this.simulation = simulation;
    this.dc = dc;
    this.held = held;
  }

  /** A process begins. */
  void clear() {
    givenUp.clear();
  }

  /** A keyspace is dropped. */
  void forget(String keyspace) {
    givenUp.remove(keyspace);
  }

  boolean isUnderWay(String keyspace) {
    return givenUp.containsKey(keyspace);
  }

  /** As {@link io.osier.datacenter.shard.Keyspaces#cease}, and what follows it. */
  boolean cease(String keyspace) {
    List<SimNode> nodes = held.of(keyspace);
    if (held.holders().hasCeased(keyspace)) {
      return leaving(keyspace).isQuiet() || simulation.options().sabotage().hurriesRemovals();
    }
    nodes.forEach(node -> node.submit(new Input.Cease()));
    if (!nodes.isEmpty() && nodes.stream().allMatch(node -> node.shown().isPresent())) {
      simulation.trace().note("%s serves %s no more", dc.self(), keyspace);
      held.holders().cease(keyspace);
      nodes.forEach(SimNode::absorbAll);
    }
    return false;
  }

  /** Serves a keyspace again that was about to be given up, as production does. */
  void resume(String keyspace) {
    LeaveProcedure procedure = givenUp.remove(keyspace);
    if (procedure != null) {
      procedure.stay();
    }
    var unused = held.holders().resume(keyspace);
    held.of(keyspace).forEach(node -> node.submit(new Input.Resume()));
  }

  /** Gives the rights of a keyspace away, as production's {@code Execution} does. */
  boolean giveAway(String keyspace, List<String> heirs) {
    return leaving(keyspace).step(heirs) || simulation.options().sabotage().hurriesRemovals();
  }

  private LeaveProcedure leaving(String keyspace) {
    return givenUp.computeIfAbsent(
        keyspace, k -> new LeaveProcedure(dc.self(), new Leaving(k), new LongAdder()));
  }

  private final class Leaving implements GivenUp {
    private final String keyspace;

    Leaving(String keyspace) {
      this.keyspace = keyspace;
    }

    @Override
    public List<GivenUp.Keyspace> keyspaces() {
      List<SimNode> nodes = held.of(keyspace);
      return nodes.isEmpty()
          ? List.of()
          : List.of(new GivenUp.Keyspace(held.policy(nodes.getFirst().unit()), nodes));
    }

    @Override
    public void compareAnew() {
      dc.compareAnew();
    }

    @Override
    public boolean isComplete() {
      return dc.isWhole(keyspace);
    }

    @Override
    public boolean mayInherit(KeyspacePolicy policy, String of) {
      return held.holders().stays(policy, of);
    }

    @Override
    public CompletableFuture<Integer> begin(Supplier<Integer> walk) {
      CompletableFuture<Integer> found = new CompletableFuture<>();
      BooleanSupplier isSame = dc.goesOn();
      simulation
          .scheduler()
          .in(
              WALK_NANOS,
              () -> {
                if (isSame.getAsBoolean()) {
                  int some = simulation.options().sabotage().keepsRights() ? 0 : walk.get();
                  if (some == 0) {
                    held.of(keyspace).forEach(simulation.holders().rights()::gave);
                  }
                  found.complete(some);
                }
              });
      return found;
    }
  }
}
