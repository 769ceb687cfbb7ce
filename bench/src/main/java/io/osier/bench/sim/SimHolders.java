package io.osier.bench.sim;

import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Losses;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Which datacenters hold each keyspace: those that do from the start, and those that are added
 * while all serve. Each hears of an addition, and of its end, at its own time, or when it starts.
 * Used by the simulation's thread.
 */
public final class SimHolders {
  /** One that is added to the holders of a keyspace. */
  static final class Addition {
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

  private final List<Unit> units;
  private final Map<String, SimDc> dcs;
  private final SimMembers members;
  private final Losses losses;
  private final Map<String, Addition> additions = new TreeMap<>();

  /** Those of the start. */
  SimHolders(List<Unit> units, Map<String, SimDc> dcs, SimMembers members, Losses losses) {
    this.units = units;
    this.dcs = dcs;
    this.members = members;
    this.losses = losses;
  }

  /** From now on who hears of it knows of one more holder. */
  void add(Addition addition) {
    additions.put(addition.keyspace, addition);
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
        && losses.lost().stream()
            .anyMatch(lost -> unit.policy().heldBy(lost.dc()) || isAdded(lost.dc(), unit));
  }

  /** The datacenters that hold a unit. */
  public List<SimDc> of(Unit unit) {
    return dcs.values().stream().filter(dc -> holds(dc.self().dc(), unit)).toList();
  }

  /** Whether a datacenter takes another one for a holder of a unit. */
  public boolean isHolder(String dc, String other, Unit unit) {
    return unit.policy().heldBy(other) || (isAdded(other, unit) && knows(dc, unit));
  }

  /** Those of a datacenter's peers that hold a unit, too, as far as it knows. */
  public List<String> peersOf(String dc, Unit unit) {
    return members.peersOf(dc).stream().filter(peer -> isHolder(dc, peer, unit)).toList();
  }

  /** Those that do not hold the first keyspace that only some hold; none if all hold all. */
  public List<SimDc> away() {
    return units.stream()
        .map(unit -> dcs.values().stream().filter(dc -> !holds(dc.self().dc(), unit)).toList())
        .filter(dcs -> !dcs.isEmpty())
        .findFirst()
        .orElse(List.of());
  }

  /** Those whom a datacenter asks that does not hold a unit, or not wholly. */
  public List<String> serving(String asking, Unit unit) {
    Addition a = additions.get(unit.policy().name());
    boolean isWhole = a != null && a.heardWhole.contains(asking);
    return dcs.keySet().stream()
        .filter(dc -> unit.policy().heldBy(dc) || (isWhole && isAdded(dc, unit)))
        .toList();
  }
}
