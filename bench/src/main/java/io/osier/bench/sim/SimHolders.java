package io.osier.bench.sim;

import static io.osier.bench.sim.world.Scheduler.MILLI;
import static io.osier.bench.sim.world.Scheduler.SECOND;

import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Fault;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.RunProfile;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.SimLink;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Which datacenters hold each keyspace: those that do from the start, and those that are added
 * while all serve. Each hears of an addition, and of its end, at its own time, or when it starts.
 * Used by the simulation's thread.
 */
public final class SimHolders {
  private static final int BREAK_SECONDS_MAX = 8;
  private static final int HEARD_MILLIS_MAX = 3_000;

  /** So often one that was added looks whether it has all. */
  private static final long LOOK_NANOS = 300 * MILLI;

  /** One that is added to the holders of a keyspace. */
  private static final class Addition {
    final String keyspace;
    final String dc;

    /** Those that know of it. */
    final Set<String> heard = new TreeSet<>();

    /** Whether it has had what the others have: it serves from then on. */
    boolean whole;

    /** Those that know that. */
    final Set<String> heardWhole = new TreeSet<>();

    Addition(String keyspace, String dc) {
      this.keyspace = keyspace;
      this.dc = dc;
    }
  }

  private final Simulation simulation;
  private final Map<String, Addition> additions = new TreeMap<>();

  SimHolders(Simulation simulation) {
    this.simulation = simulation;
  }

  // ---------------------------------------------------------------- what changes

  /**
   * Breaks connections to holders now and then, so that others are asked, and adds some holders.
   */
  void start() {
    RunProfile profile = simulation.profile();
    if (!profile.has(Feature.HOLDERS)) {
      return;
    }
    Random random = new Random(profile.seed() * 0x9E3779B97F4A7C15L);
    if (profile.faults().contains(Fault.PARTITIONS)) {
      breakLater(random);
    }
    for (Unit unit : simulation.units()) {
      List<String> others = new ArrayList<>(simulation.names());
      others.removeIf(unit.policy()::heldBy);
      if (unit.partition() == 0 && !others.isEmpty() && random.nextBoolean()) {
        String added = others.get(random.nextInt(others.size()));
        long later = random.nextLong(profile.seconds() * SECOND);
        simulation.scheduler().in(later, () -> add(unit.policy().name(), added, random));
      }
    }
  }

  private void breakLater(Random random) {
    simulation
        .scheduler()
        .in(
            (1 + random.nextInt(BREAK_SECONDS_MAX * simulation.profile().pace())) * SECOND,
            () -> {
              List<SimDc> away = away();
              if (simulation.isLoading() && !away.isEmpty()) {
                String from = away.get(random.nextInt(away.size())).self().dc();
                List<SimLink> links =
                    simulation.network().links().stream().filter(l -> l.from.equals(from)).toList();
                simulation.network().flap(links.get(random.nextInt(links.size())));
                breakLater(random);
              }
            });
  }

  private void add(String keyspace, String added, Random random) {
    if (!simulation.isLoading()) {
      return;
    }
    simulation.trace().note("%s is added to the holders of %s", added, keyspace);
    Addition addition = new Addition(keyspace, added);
    additions.put(keyspace, addition);
    tellAll(addition.heard, random);
    look(addition, random);
  }

  /** Each that is up hears of something, at its own time. */
  private void tellAll(Set<String> heard, Random random) {
    for (SimDc dc : simulation.dcs()) {
      simulation
          .scheduler()
          .in(
              random.nextInt(HEARD_MILLIS_MAX) * MILLI,
              () -> {
                if (dc.isUp() && heard.add(dc.self().dc())) {
                  dc.holdersChanged();
                }
              });
    }
  }

  private void look(Addition addition, Random random) {
    SimDc dc = simulation.dc(addition.dc);
    if (dc.isUp() && dc.isWhole(addition.keyspace)) {
      simulation.trace().note("%s holds %s from now on", dc.self(), addition.keyspace);
      addition.whole = true;
      tellAll(addition.heardWhole, random);
    } else {
      simulation.scheduler().in(LOOK_NANOS, () -> look(addition, random));
    }
  }

  /** A datacenter starts: it knows what there is to know. */
  public void starts(String dc) {
    for (Addition a : additions.values()) {
      a.heard.add(dc);
      if (a.whole) {
        a.heardWhole.add(dc);
      }
    }
  }

  /** Whether a keyspace has had other holders than at the start. */
  public boolean hasChanged() {
    return !additions.isEmpty();
  }

  /** Whether one that was added has not what the others hold. */
  boolean isChanging() {
    return additions.values().stream().anyMatch(a -> !a.whole);
  }

  // ---------------------------------------------------------------- who holds what

  private boolean isAdded(String dc, Unit unit) {
    Addition a = additions.get(unit.policy().name());
    return a != null && a.dc.equals(dc);
  }

  private boolean knows(String dc, Unit unit) {
    Addition a = additions.get(unit.policy().name());
    return a != null && a.heard.contains(dc);
  }

  /** Whether a datacenter has a unit, and takes part in its replication. */
  public boolean holds(String dc, Unit unit) {
    return unit.policy().heldBy(dc) || (isAdded(dc, unit) && knows(dc, unit));
  }

  /** Whether it was added to the holders of a unit, and has not had what the others hold. */
  public boolean catchesUp(String dc, Unit unit) {
    Addition a = additions.get(unit.policy().name());
    return a != null && a.dc.equals(dc) && !a.whole;
  }

  /**
   * Whether a session may be told that what it saw is lost although it was not: who forwards notes
   * for all connections together what holders have shown, and one of these has lost something.
   *
   * @param asked the datacenter that tells it
   */
  public boolean mayTellOthers(String asked, Unit unit) {
    return !unit.policy().heldBy(asked)
        && simulation.losses().lost().stream()
            .anyMatch(lost -> unit.policy().heldBy(lost.dc()) || isAdded(lost.dc(), unit));
  }

  /** The datacenters that hold a unit. */
  public List<SimDc> of(Unit unit) {
    return simulation.dcs().stream().filter(dc -> holds(dc.self().dc(), unit)).toList();
  }

  /** Whether a datacenter takes another one for a holder of a unit. */
  public boolean isHolder(String dc, String other, Unit unit) {
    return unit.policy().heldBy(other) || (isAdded(other, unit) && knows(dc, unit));
  }

  /** Those of a datacenter's peers that hold a unit, too, as far as it knows. */
  public List<String> peersOf(String dc, Unit unit) {
    return simulation.members().peersOf(dc).stream()
        .filter(peer -> isHolder(dc, peer, unit))
        .toList();
  }

  /** Those that do not hold the first keyspace that only some hold; none if all hold all. */
  public List<SimDc> away() {
    return simulation.units().stream()
        .map(unit -> simulation.dcs().stream().filter(dc -> !holds(dc.self().dc(), unit)).toList())
        .filter(dcs -> !dcs.isEmpty())
        .findFirst()
        .orElse(List.of());
  }

  /** Those whom a datacenter asks that does not hold a unit, or not wholly. */
  public List<String> serving(String asking, Unit unit) {
    Addition a = additions.get(unit.policy().name());
    boolean isWhole = a != null && a.heardWhole.contains(asking);
    return simulation.names().stream()
        .filter(dc -> unit.policy().heldBy(dc) || (isWhole && isAdded(dc, unit)))
        .toList();
  }
}
