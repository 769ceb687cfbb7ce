package io.osier.datacenter.server;

import io.osier.datacenter.control.execution.Control;
import io.osier.datacenter.control.execution.LoadMeasures;
import io.osier.datacenter.frontend.AuditLog;
import io.osier.datacenter.frontend.ClientServer;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.placement.DemandCounters;
import io.osier.datacenter.redis.pubsub.PubSub;
import io.osier.propagation.net.PeerTransport;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Collects metrics of the datacenter other than those of its partitions. */
final class OwnFigures {
  private OwnFigures() {}

  static Optional<Snapshot.Joining> joining(Control control) {
    return control
        .joining()
        .lastCatchUp()
        .map(
            c ->
                new Snapshot.Joining(
                    c.complete(),
                    c.partitions(),
                    c.objects(),
                    c.objectsThere(),
                    c.bytes(),
                    c.secondsLeft()));
  }

  static Snapshot.Clients clients(
      ClientServer clients, PubSub pubSub, Forwarding forwarding, LoadMeasures loads) {
    DemandCounters asked = loads.counters();
    PubSub.Figures f = pubSub.figures();
    return clients
        .figures()
        .with(
            new Snapshot.Messages(
                f.subscribers(),
                f.published(),
                f.received(),
                Map.of("subscriber", f.droppedHere(), "peer", f.droppedThere())),
            forwarding.counts(
                asked.keyspaces().stream()
                    .map(
                        name ->
                            new Snapshot.Demand(
                                name,
                                asked.of(name).reads(),
                                asked.of(name).updates(),
                                loads.moves(name)))
                    .toList()));
  }

  /**
   * Returns how many lines of the audit log are lost, by reason.
   *
   * @param atFile the lines that were not written to its file
   */
  static Map<String, Long> auditLost(AuditLog audit, Map<String, Long> atFile) {
    Map<String, Long> all = new TreeMap<>(atFile);
    all.put("flood", audit.leftOut());
    return all;
  }

  /** Returns how often attempts failed, by kind. */
  static Map<String, Long> failedAttempts(
      Control control,
      PeerTransport transport,
      Optional<Certificates> certificates,
      Storage storage) {
    Map<String, Long> all = new TreeMap<>(control.failedAttempts());
    all.put("frames", transport.notEncoded());
    certificates.ifPresent(c -> all.put("certificates", c.failed()));
    storage
        .store()
        .ifPresent(
            store -> {
              all.put("store", store.failedAttempts());
              all.put("peers", storage.thrownAway());
            });
    return all;
  }
}
