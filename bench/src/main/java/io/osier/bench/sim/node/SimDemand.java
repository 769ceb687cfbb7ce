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
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What is asked of a datacenter, and what holding its keyspaces costs, for its placement: counted
 * by production's counters, measured as production does.
 */
public final class SimDemand implements PlacementHost {
  /** What an object takes, about. */
  private static final long OBJECT_BYTES = 100;

  /** How long a disk stays as full as it is. */
  private static final long DISK_NANOS = 4_000 * MILLI;

  /** The room of a disk that is nearly full. */
  private static final long TIGHT_BYTES = 10_000;

  private enum Disk {
    ROOMY,
    TIGHT,
    FULL
  }

  private final Simulation simulation;
  private final String dc;
  private final Function<String, List<PartitionReport>> reports;
  private final Predicate<String> isReached;
  private final BiConsumer<String, List<String>> moved;
  private final Random random;

  /** Of the present life. */
  private DemandCounters counters;

  /**
   * Of one datacenter.
   *
   * @param reports of the partitions that it has of a keyspace
   * @param isReached whether it is connected with another datacenter
   * @param moved hears of each keyspace that placement has moved, and who is to hold it
   */
  SimDemand(
      Simulation simulation,
      String dc,
      Function<String, List<PartitionReport>> reports,
      Predicate<String> isReached,
      BiConsumer<String, List<String>> moved) {
    this.simulation = simulation;
    this.dc = dc;
    this.reports = reports;
    this.isReached = isReached;
    this.moved = moved;
    this.random = new Random(simulation.profile().seed() * 37 + dc.hashCode());
    this.counters = new DemandCounters(random::nextInt);
  }

  /** A new process begins, which has counted nothing. */
  void starts() {
    counters = new DemandCounters(random::nextInt);
  }

  /**
   * Counts what a client asks.
   *
   * @return what is to be shown the answer; null if that is not measured
   */
  @Nullable Consumer<Reply> counted(Unit unit, Request request) {
    return counters.isEmpty() ? null : counters.counted(unit.policy().name(), request);
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
    for (PartitionReport report : reports.apply(keyspace)) {
      committed += report.content().committed();
      shipped +=
          report.peers().stream()
              .mapToLong(peer -> peer.to().opBytes() + peer.to().stateBytes())
              .max()
              .orElse(0);
      objects += report.content().objects();
    }
    SortedMap<String, Double> ways = new TreeMap<>();
    for (String other : simulation.names()) {
      if (!other.equals(dc) && isReached.test(other)) {
        long nanos =
            simulation.network().link(dc, other).delayNanosMax()
                + simulation.network().link(other, dc).delayNanosMax();
        ways.put(other, (double) nanos / MILLI);
      }
    }
    return new Measured(
        counters.of(keyspace), committed, shipped, objects * OBJECT_BYTES, room(), ways);
  }

  /** The room on the disk: empty for any amount, enough for a small keyspace only, or nothing. */
  private OptionalLong room() {
    return switch (disk(dc)) {
      case ROOMY -> OptionalLong.empty();
      case TIGHT -> OptionalLong.of((64 << 20) + TIGHT_BYTES);
      case FULL -> OptionalLong.of(0);
    };
  }

  /** Whether its disk is full, so that it hears nothing from other datacenters. */
  boolean isFull() {
    return disk(dc) == Disk.FULL;
  }

  private Disk disk(String of) {
    long nanos = simulation.scheduler().nanos();
    if (!simulation.profile().fillsDisks()
        || nanos >= simulation.profile().seconds() * 1_000_000_000L) {
      return Disk.ROOMY; // at the end of a run all is well
    }
    Random drawn =
        new Random((simulation.profile().seed() * 41 + of.hashCode()) * 43 + nanos / DISK_NANOS);
    drawn.nextInt(); // those of neighbouring seeds begin alike
    return switch (drawn.nextInt(8)) {
      case 0 -> Disk.FULL;
      case 1, 2, 3 -> Disk.TIGHT;
      default -> Disk.ROOMY;
    };
  }

  @Override
  public Set<String> lagging() {
    return simulation.names().stream()
        .filter(other -> !other.equals(dc) && isReached.test(other) && disk(other) == Disk.FULL)
        .collect(Collectors.toSet());
  }

  @Override
  public void moved(String keyspace, String command, String why) {
    simulation.trace().note("%s: %s, as %s", dc, command, why);
    String names = command.substring(command.indexOf('=') + 1);
    moved.accept(keyspace, List.of(names.split(",", -1)));
  }

  @Override
  public void refused(String command, String why) {
    simulation.trace().note("%s: %s is refused: %s", dc, command, why);
  }
}
