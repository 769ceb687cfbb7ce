package io.osier.bench.sim;

import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.OsierException;
import io.osier.core.PlacementRules;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Looks that the laws of keyspaces are kept: nobody becomes a holder who may not be one where that
 * is taken, and never do fewer than {@code holders-min} datacenters have all. What is written in
 * {@code _osier} is what counts, whatever production makes of it. Used by the simulation's thread.
 */
public final class SimLaws {
  private static final class Known {
    /** The holders that were ever added. */
    final Set<String> ever;

    /** Of these those that have not gone. */
    final Set<String> present;

    /** Of these those that have all; a crash takes none of them away. */
    final Set<String> whole;

    /** The smallest {@code holders-min} that anybody may have decided by since the last change. */
    int least = 1;

    Known(Unit unit) {
      ever = new TreeSet<>(unit.policy().replicas());
      present = new TreeSet<>(ever);
      whole = new TreeSet<>(ever);
    }
  }

  private final SimHolders holders;
  private final Collection<SimDc> dcs;
  private final Map<String, Unit> units = new HashMap<>();
  private final Map<String, Known> known = new HashMap<>();

  SimLaws(SimHolders holders, List<Unit> units, Collection<SimDc> dcs) {
    this.holders = holders;
    this.dcs = dcs;
    for (Unit unit : units) {
      this.units.putIfAbsent(unit.policy().name(), unit);
      known.putIfAbsent(unit.policy().name(), new Known(unit));
    }
  }

  private Known of(String keyspace) {
    return requireNonNull(known.get(keyspace), keyspace);
  }

  private Unit unit(String keyspace) {
    return requireNonNull(units.get(keyspace), keyspace);
  }

  /** The smallest {@code holders-min} that any datacenter has heard of last. */
  private int least(String keyspace) {
    return dcs.stream().mapToInt(dc -> dc.control().rules(keyspace).least()).min().orElse(1);
  }

  // ---------------------------------------------------------------- what is asked for

  /**
   * Somebody has a datacenter alter the holders of a keyspace.
   *
   * @throws OsierException if it refuses that
   */
  void alter(SimDc at, String keyspace, List<String> wanted, Runnable command) {
    Known of = of(keyspace);
    int lowest = least(keyspace);
    boolean isChanging = holders.isChanging(unit(keyspace));
    PlacementRules rules = at.control().rules(keyspace);
    List<String> added = new ArrayList<>(wanted);
    added.removeAll(of.present);
    Set<String> before = new TreeSet<>(of.ever);
    of.ever.addAll(added); // it may be opened at once
    try {
      command.run();
    } catch (OsierException e) {
      of.ever.retainAll(before);
      throw e;
    }
    of.present.addAll(added);
    of.least = isChanging ? Math.min(of.least, lowest) : lowest;
    holders.alter(keyspace);
    List<String> forbidden = added.stream().filter(name -> !rules.mayHold(name)).toList();
    if (!forbidden.isEmpty()) {
      throw new Violation(
          unit(keyspace), "%s adds %s, who may not hold it: %s", at.self(), forbidden, rules);
    }
  }

  /** Placement has altered the holders of a keyspace at a datacenter. */
  public void moved(SimDc at, String keyspace, List<String> wanted) {
    for (String holder : at.control().serving(unit(keyspace).policy())) {
      if (!holder.equals(at.self().dc()) && !at.control().isReached(holder)) {
        throw new Violation(
            unit(keyspace), "%s moves it while %s is out of reach", at.self(), holder);
      }
    }
    alter(at, keyspace, wanted, () -> {});
  }

  /**
   * Somebody has a datacenter alter the laws of a keyspace.
   *
   * @throws OsierException if it refuses that
   */
  void alterLaws(SimDc at, String keyspace, Runnable command) {
    PlacementRules former = at.control().rules(keyspace);
    command.run();
    PlacementRules now = at.control().rules(keyspace);
    List<String> serving = at.control().serving(unit(keyspace).policy());
    boolean isNarrower = !now.allow().equals(former.allow()) || !now.deny().equals(former.deny());
    if ((isNarrower && !serving.stream().allMatch(now::mayHold))
        || (now.least() > former.least() && serving.size() < now.least())) {
      throw new Violation(
          unit(keyspace), "%s takes a law that %s break: %s", at.self(), serving, now);
    }
  }

  // ---------------------------------------------------------------- what becomes of it

  /** A datacenter opens a keyspace whose holders were altered. */
  public void opens(String keyspace, String dc) {
    if (!of(keyspace).ever.contains(dc)) {
      throw new Violation(unit(keyspace), "%s becomes a holder, and nobody has added it", dc);
    }
  }

  /** A datacenter has all that the other holders have. */
  public void serves(String keyspace, String dc) {
    of(keyspace).whole.add(dc);
  }

  /**
   * A datacenter that was told to go holds a keyspace no more: that cannot be taken back. One that
   * drops a keyspace since a crash took its word that it was added again has not gone.
   */
  public void goes(String keyspace, String dc) {
    Known of = of(keyspace);
    of.present.remove(dc);
    int least = Math.min(of.least, least(keyspace));
    if (of.whole.remove(dc) && of.whole.size() < least) {
      throw new Violation(
          unit(keyspace),
          "%s goes, and leaves %s, although at least %d must hold it",
          dc,
          of.whole,
          least);
    }
  }
}
