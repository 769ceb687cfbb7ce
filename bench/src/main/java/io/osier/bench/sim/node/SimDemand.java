package io.osier.bench.sim.node;

import static io.osier.bench.sim.world.Scheduler.MILLI;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.plan.Unit;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.placement.DemandCounters;
import io.osier.datacenter.placement.Measured;
import io.osier.datacenter.placement.PlacementHost;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * What is asked of a datacenter, and what holding its keyspaces costs, for its placement: counted
 * by production's counters, measured as production does.
 */
public final class SimDemand implements PlacementHost {
  /** What an object takes, about. */
  private static final long OBJECT_BYTES = 100;

  private final Simulation simulation;
  private final SimDc dc;
  private final HeldUnits held;
  private final Random random;

  /** Of the present life. */
  private DemandCounters counters;

  SimDemand(Simulation simulation, SimDc dc, HeldUnits held) {
    this.simulation = simulation;
    this.dc = dc;
    this.held = held;
    this.random = new Random(simulation.profile().seed() * 37 + dc.self().dc().hashCode());
    this.counters = new DemandCounters(random::nextInt);
  }

  /** A process begins, and has counted nothing. */
  void starts() {
    counters = new DemandCounters(random::nextInt);
  }

  /** Counts what a client asks, and has its answer measured now and then. */
  WitnessedMachine.ReplyListener counted(
      Unit unit, Request request, WitnessedMachine.ReplyListener listener) {
    Consumer<Reply> measures =
        counters.isEmpty() ? null : counters.counted(unit.policy().name(), request);
    return measures == null
        ? listener
        : (at, made) -> {
          Runnable then = listener.made(at, made);
          measures.accept(made);
          return then;
        };
  }

  /** Counts an update that was acknowledged in front of its partition. */
  public void updated(Unit unit) {
    counters.updated(unit.policy().name());
  }

  @Override
  public void count(Collection<String> keyspaces) {
    counters.follow(keyspaces);
  }

  @Override
  public Measured measured(String keyspace) {
    long committed = 0;
    long shipped = 0;
    long objects = 0;
    for (SimNode node : held.of(keyspace)) {
      PartitionReport report = node.inspect();
      committed += report.content().committed();
      shipped +=
          report.peers().stream()
              .mapToLong(peer -> peer.to().opBytes() + peer.to().stateBytes())
              .max()
              .orElse(0);
      objects += report.content().objects();
    }
    String self = dc.self().dc();
    SortedMap<String, Double> ways = new TreeMap<>();
    for (String other : simulation.names()) {
      if (!other.equals(self) && dc.control().isReached(other)) {
        long nanos =
            simulation.network().link(self, other).delayNanosMax()
                + simulation.network().link(other, self).delayNanosMax();
        ways.put(other, (double) nanos / MILLI);
      }
    }
    return new Measured(counters.of(keyspace), committed, shipped, objects * OBJECT_BYTES, ways);
  }

  @Override
  public void moved(String keyspace, String command, String why) {
    simulation.trace().note("%s: %s, as %s", dc.self(), command, why);
    String names = command.substring(command.indexOf('=') + 1);
    simulation.holders().laws().moved(dc, keyspace, List.of(names.split(",", -1)));
  }

  @Override
  public void refused(String command, String why) {
    simulation.trace().note("%s: %s is refused: %s", dc.self(), command, why);
  }
}
