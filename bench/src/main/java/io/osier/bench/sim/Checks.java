package io.osier.bench.sim;

import io.osier.bench.sim.check.CausalOrderCheck;
import io.osier.bench.sim.check.ConditionCheck;
import io.osier.bench.sim.check.CopyCheck;
import io.osier.bench.sim.check.ExactlyOnceCheck;
import io.osier.bench.sim.check.LedgerCheck;
import io.osier.bench.sim.check.ProgramCheck;
import io.osier.bench.sim.check.SessionCheck;
import io.osier.bench.sim.check.TransactionCheck;
import io.osier.bench.sim.node.SimNode;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.CausalContext;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.crdt.ObjectId;
import io.osier.propagation.wire.Shipment;
import java.util.HashMap;
import java.util.Map;

/** All checks of one unit. */
public final class Checks {
  private final Unit unit;
  private final CausalOrderCheck order;
  private final ExactlyOnceCheck once;
  private final LedgerCheck ledger;
  private final SessionCheck sessions;
  private final CopyCheck copies;
  private final SlaCheck sla;
  private final ReportCheck reports;
  private final TransactionCheck transactions;
  private final ConditionCheck conditions;
  private final ProgramCheck programs;
  private final Map<ObjectId, CausalContext> forgotten = new HashMap<>();

  Checks(Simulation simulation, Unit unit) {
    this.unit = unit;
    order = new CausalOrderCheck(unit);
    once = new ExactlyOnceCheck(unit, this::forgotten);
    ledger = new LedgerCheck(unit);
    sessions = new SessionCheck(unit, this::covers);
    copies = new CopyCheck(unit, this::covers);
    sla = new SlaCheck(simulation, unit);
    reports = new ReportCheck(unit);
    transactions = new TransactionCheck(unit);
    conditions = new ConditionCheck(unit);
    programs = new ProgramCheck(unit);
  }

  /**
   * A node journalled an update.
   *
   * @param before what the object covered there before it
   * @param madeNanos when it was made, or acknowledged if that was before
   */
  public void appended(SimNode at, Shipment update, CausalContext before, long madeNanos) {
    try {
      unit.checkHome(update.object().key());
    } catch (OsierException e) {
      throw new Violation(unit + "/" + update.object(), "%s has a key of another home: %s", at, e);
    }
    once.journalled(at.self(), update);
    if (update.origin().equals(at.self()) && update.updates() > 0) {
      order.made(update.object(), at.self(), update.last(), before);
      once.made(update);
      sla.made(at, update.object(), update.last(), before, madeNanos);
    }
  }

  /** A node stores an object that covers more than before. */
  public void changed(SimNode at, ObjectId object, CausalContext before, CausalContext after) {
    ReplicaId self = at.self();
    CausalContext forgot = forgotten(object);
    order.changed(self, object, before.join(forgot), after.join(forgot));
  }

  /**
   * A node drops an object that only remembers removals.
   *
   * @param context what it covered
   */
  public void forgetting(ObjectId object, CausalContext context) {
    forgotten.merge(object, context, CausalContext::join);
  }

  /**
   * The dots that any node has forgotten of an object: every node had them, and need not show them.
   */
  public CausalContext forgotten(ObjectId object) {
    return forgotten.getOrDefault(object, CausalContext.EMPTY);
  }

  /** Whether a node that covers {@code here} has all that is wanted, or has forgotten it. */
  boolean covers(ObjectId object, CausalContext here, CausalContext wanted) {
    return order.covers(object, here.join(forgotten(object)), wanted);
  }

  public ExactlyOnceCheck once() {
    return once;
  }

  public LedgerCheck ledger() {
    return ledger;
  }

  public SessionCheck sessions() {
    return sessions;
  }

  public CopyCheck copies() {
    return copies;
  }

  public SlaCheck sla() {
    return sla;
  }

  public TransactionCheck transactions() {
    return transactions;
  }

  public ConditionCheck conditions() {
    return conditions;
  }

  public ProgramCheck programs() {
    return programs;
  }

  ReportCheck reports() {
    return reports;
  }
}
