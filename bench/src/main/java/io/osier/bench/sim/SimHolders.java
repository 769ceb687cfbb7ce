package io.osier.bench.sim;

import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Losses;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Which datacenters hold each keyspace: those that do from the start, and what is altered while all
 * serve, as each knows it. Used by the simulation's thread.
 */
public final class SimHolders {
  private final List<Unit> units;
  private final Collection<SimDc> dcs;
  private final Losses losses;

  private final HolderRights rights = new HolderRights();
  private final SimLaws laws;

  /** The keyspaces whose holders were altered. */
  private final Set<String> altered = new HashSet<>();

  /** Begins with the holders of the keyspaces' policies. */
  SimHolders(List<Unit> units, Collection<SimDc> dcs, Losses losses) {
    this.units = units;
    this.dcs = dcs;
    this.losses = losses;
    units.stream().filter(Unit::hasHomes).forEach(unit -> altered.add(unit.policy().name()));
    this.laws = new SimLaws(this, units, dcs);
  }

  /** Checks that the laws of keyspaces are kept. */
  public SimLaws laws() {
    return laws;
  }

  /** Checks that former holders have no rights of bounded counters. */
  public HolderRights rights() {
    return rights;
  }

  /** An operator alters the holders of a keyspace. */
  void alter(String keyspace) {
    altered.add(keyspace);
  }

  /** Whether any keyspace may have other holders than at the start. */
  public boolean hasChanged() {
    return !altered.isEmpty();
  }

  /** Whether a keyspace may have other holders than at the start. */
  public boolean hasChanged(String keyspace) {
    return altered.contains(keyspace);
  }

  /** Whether a client is told that its session is pinned where a keyspace is held no more. */
  public boolean isUnpinned(OsierException failure, Unit unit) {
    return hasChanged(unit.policy().name())
        && failure.code() == ErrorCode.INVALID_ARGUMENT
        && String.valueOf(failure.reason()).contains("where this session is pinned");
  }

  /** Whether a change of holders is not finished at every datacenter. */
  boolean isChanging() {
    return units.stream().anyMatch(this::isChanging);
  }

  /** Whether a change of a unit's holders is not finished at every datacenter. */
  boolean isChanging(Unit unit) {
    List<Optional<List<String>>> known =
        altered.contains(unit.policy().name())
            ? dcs.stream().map(dc -> dc.control().settled(unit)).distinct().toList()
            : List.of();
    return known.size() > 1 || known.contains(Optional.<List<String>>empty());
  }

  // ---------------------------------------------------------------- who holds what

  /**
   * Whether a session may be told that what it saw is lost although it was not: who forwards notes
   * for all connections together what holders have shown, and one of these has lost something.
   *
   * @param asked the datacenter that tells it
   */
  public boolean mayTellOthers(SimDc asked, Unit unit) {
    return asked.forwards(unit) && !losses.lost(unit).isEmpty();
  }

  /** The datacenters that have a unit. */
  public List<SimDc> of(Unit unit) {
    List<SimDc> holders = new ArrayList<>();
    for (SimDc dc : dcs) { // for each update, and cheaper than a stream
      if (dc.holds(unit)) {
        holders.add(dc);
      }
    }
    return holders;
  }

  /** The names of those that lose nothing in a crash. */
  List<String> keeping() {
    return dcs.stream().filter(SimDc::losesNothing).map(dc -> dc.self().dc()).toList();
  }

  private static boolean isAt(SimDc dc, Unit unit) {
    return dc.life() == 0 ? unit.policy().heldBy(dc.self().dc()) : dc.holds(unit);
  }

  /** Those that do not hold the first keyspace that only some hold; none if all hold all. */
  public List<SimDc> away() {
    return units.stream()
        .map(unit -> dcs.stream().filter(dc -> !isAt(dc, unit)).toList())
        .filter(dcs -> !dcs.isEmpty())
        .findFirst()
        .orElse(List.of());
  }
}
