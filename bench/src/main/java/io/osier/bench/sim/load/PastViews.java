package io.osier.bench.sim.load;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.app.SimApp;
import io.osier.bench.sim.check.TransactionView;
import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Unit;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Predicate;

/** What the transactions of one session have seen, and can read again as the past. */
final class PastViews {
  private static final int KEPT = 20;

  /**
   * What a transaction that reads the past must see: a snapshot that was seen before, or all of a
   * transaction that was committed.
   *
   * @param at the replica whose past it is
   * @param clock the version vector that the transaction asks for
   * @param shows whether a view is what it must be
   * @param what the same in words
   */
  record PastView(
      ReplicaId at, VersionVector clock, Predicate<TransactionView> shows, String what) {}

  private final Simulation simulation;
  private final SimApp app;
  private final Unit unit;
  private final List<PastView> pasts = new ArrayList<>();

  PastViews(Simulation simulation, SimApp app, Unit unit) {
    this.simulation = simulation;
    this.app = app;
    this.unit = unit;
  }

  void add(
      DrawnTransaction tx, VersionVector clock, Predicate<TransactionView> shows, String what) {
    if (pasts.size() < KEPT) {
      pasts.add(new PastView(tx.where(), clock, shows, what));
    }
  }

  void remove(PastView past) {
    pasts.remove(past);
  }

  void clear() {
    pasts.clear();
  }

  /** Returns one of a replica that is still there and can be asked. */
  Optional<PastView> any(Random random) {
    pasts.removeIf(past -> !canBeAsked(past.at));
    return pasts.isEmpty()
        ? Optional.empty()
        : Optional.of(pasts.get(random.nextInt(pasts.size())));
  }

  private boolean canBeAsked(ReplicaId replica) {
    SimDc dc = simulation.dc(replica.dc());
    return dc.serves(unit)
        && dc.replica(unit).equals(replica)
        && app.reaches(replica.dc())
        && unit.policy().heldBy(replica.dc());
  }
}
