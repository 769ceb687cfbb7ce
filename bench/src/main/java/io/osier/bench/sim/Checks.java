package io.osier.bench.sim;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.propagation.ObjectId;
import io.osier.propagation.Shipment;

/** All checks of one unit. */
final class Checks {
  private final CausalOrderCheck order;
  private final ExactlyOnceCheck once;
  private final LedgerCheck ledger;
  private final SessionCheck sessions;
  private final SlaCheck sla;
  private final ReportCheck reports;

  Checks(Simulation simulation, Unit unit) {
    order = new CausalOrderCheck(unit);
    once = new ExactlyOnceCheck(unit);
    ledger = new LedgerCheck(unit);
    sessions = new SessionCheck(unit);
    sla = new SlaCheck(simulation, unit);
    reports = new ReportCheck(unit);
  }

  /**
   * A node journalled an update.
   *
   * @param before what the object covered there before it
   */
  void appended(SimNode at, Shipment update, CausalContext before) {
    once.journalled(at.self(), update);
    if (update.origin().equals(at.self()) && !update.content().isFull()) {
      once.made(update);
      sla.made(at, update.object(), update.last(), before);
    }
  }

  /** A node stores an object that covers more than before. */
  void changed(SimNode at, ObjectId object, CausalContext before, CausalContext after) {
    ReplicaId self = at.self();
    long number = after.last(self);
    if (number > before.last(self)) {
      order.made(object, self, number, before);
    }
    order.changed(self, object, before, after);
  }

  ExactlyOnceCheck once() {
    return once;
  }

  LedgerCheck ledger() {
    return ledger;
  }

  SessionCheck sessions() {
    return sessions;
  }

  SlaCheck sla() {
    return sla;
  }

  ReportCheck reports() {
    return reports;
  }
}
