package io.osier.propagation.send;

import io.osier.propagation.host.LinkWindow;
import io.osier.propagation.host.ReplicationContext;

/** Reads the backlog of a peer that is offered no states. */
final class UnofferedBacklog {
  private UnofferedBacklog() {}

  static Backlog of(ReplicationContext around, OutboundLog log) {
    return new Backlog(around, log, new StateOffers(frame -> {}, LinkWindow.NONE, around), 0);
  }
}
