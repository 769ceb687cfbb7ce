package io.osier.datacenter.metrics;

import static io.osier.datacenter.metrics.Metric.Type.COUNTER;
import static io.osier.datacenter.metrics.Metric.Type.GAUGE;

import io.osier.datacenter.metrics.MetricList.PeerPart;
import io.osier.datacenter.partition.machine.PartitionReport;
import java.util.List;
import java.util.function.BiFunction;

/** Metrics of a keyspace's shipping and receiving, and of each peer's lag. */
final class ReplicationMetrics {
  private final MetricList metrics;

  private ReplicationMetrics(MetricList metrics) {
    this.metrics = metrics;
  }

  /** Adds all these metrics, in the table's order. */
  static void addTo(MetricList list) {
    ReplicationMetrics metrics = new ReplicationMetrics(list);
    metrics.shipping();
    metrics.arriving();
    metrics.peers();
  }

  private void shipping() {
    metrics.gauged(
        "dirty_objects",
        "Objects with updates that are held for a round now",
        r -> r.shipped().dirtyObjects());
    metrics.add(
        COUNTER,
        "shipments",
        List.of(MetricList.KEYSPACE, "mode"),
        "Operations, joined states and catch-up shipments, each counted once for all peers",
        (s, to) ->
            s.published()
                .forEach(
                    k -> {
                      to.number((double) k.sum(r -> r.shipped().ops()), k.name(), "op");
                      to.number((double) k.sum(r -> r.shipped().states()), k.name(), "state");
                      to.number((double) k.sum(r -> r.shipped().catchUps()), k.name(), "catch-up");
                    }));
    metrics.countedPerPeer(
        "shipped_bytes",
        "mode",
        "Bytes of updates shipped to the peer, by how they were shipped",
        List.of(
            new PeerPart("op", p -> p.to().opBytes()),
            new PeerPart("state", p -> p.to().stateBytes()),
            new PeerPart("catch-up", p -> p.to().catchUpBytes())));
    metrics.counted(
        "op_bytes",
        "Bytes that the updates which the peers have acknowledged would have taken if each had been"
            + " shipped as an operation",
        r -> r.shipped().opBytes());
    metrics.counted(
        "arrived_bytes",
        "Bytes that the updates which the peers have acknowledged took as they were shipped",
        r -> r.shipped().arrivedBytes());
    metrics.gauged(
        "saved_bytes",
        "op_bytes minus arrived_bytes: the bytes saved by joining updates, since the start",
        r -> r.shipped().opBytes() - r.shipped().arrivedBytes());
    metrics.perKeyspace(
        GAUGE,
        "coordination_seconds",
        "μ: the time set aside for a round's acknowledgement; the largest of the partitions",
        k -> k.max(r -> r.shipped().coordinationMicros() / 1e6));
    metrics.timesPerPeer(
        "round_seconds",
        "Time from sending a round until the peer has acknowledged it",
        p -> p.to().roundTimes());
  }

  private void arriving() {
    metrics.counted(
        "applied_updates", "Updates of other datacenters applied here", r -> r.arrived().applied());
    metrics.gauged(
        "waiting_updates",
        "Updates that have arrived and wait for the rest of their cut or for updates that they"
            + " depend on",
        r -> r.arrived().waitingUpdates());
    metrics.counted(
        "gaps",
        "Missing frames or preceding updates that were noticed, and are then fetched",
        r -> r.arrived().gapsSeen());
    metrics.counted(
        "healed_objects",
        "Objects repaired: their missing updates were fetched from a third datacenter, or from the"
            + " origin after a gap",
        r -> r.arrived().healed());
    metrics.counted(
        "pulled_objects",
        "Large sets and maps of which only the missing entries were fetched from a peer",
        r -> r.arrived().pulled());
    metrics.perKeyspace(GAUGE, "sla_seconds", "δ: the staleness bound", k -> k.slaMillis() / 1e3);
    metrics.timesPerPeer(
        "visibility_seconds",
        "Time from the commit of a shipment's oldest update at the peer until it was visible here,"
            + " without outages",
        p -> p.from().visibility());
    metrics.countedPerPeer(
        "late_shipments",
        "reason",
        "Shipments of the peer visible here later than the bound; outage: a link was down",
        List.of(
            new PeerPart("origin", p -> p.from().late().origin()),
            new PeerPart("way", p -> p.from().late().way()),
            new PeerPart("dependency", p -> p.from().late().dependency()),
            new PeerPart("outage", p -> p.from().late().outage())));
  }

  private void peers() {
    metrics.perPeer(
        "overdue_updates",
        "Updates of this datacenter that the peer lacks though they are older than the bound",
        all -> MetricList.sum(all, p -> p.to().timeliness().overdue()));
    metrics.countedPerPeer(
        "confirmed_updates",
        "late",
        "Updates of this datacenter that the peer has confirmed, by whether it got them too late",
        List.of(
            new PeerPart("no", p -> p.to().timeliness().confirmed() - p.to().timeliness().late()),
            new PeerPart("yes", p -> p.to().timeliness().late())));
    metrics.perPeer(
        "unheard_seconds",
        "For how long an expected message of the peer has not come",
        all -> all.stream().mapToLong(p -> p.from().unheardNanos()).max().orElse(0) / 1e9);
    metrics.perPeer(
        "clock_ahead_seconds",
        "By how much the peer's clock is ahead of the one here, at least, in the last half minute",
        all -> all.stream().mapToLong(p -> p.from().aheadMillis()).max().orElse(0) / 1e3);
    metrics.perPeer(
        "lag_updates",
        "Updates of this datacenter that the peer has not confirmed",
        all -> MetricList.sum(all, p -> p.to().lagUpdates()));
    metrics.perPeer(
        "lag_bytes",
        "Bytes of the updates that the peer has not confirmed, as single operations: an upper bound"
            + " that covers updates made since this datacenter started",
        all -> MetricList.sum(all, p -> p.to().lagBytes()));
    metrics.perPeer(
        "lag_seconds",
        "The age of the oldest update that the peer has not confirmed, at most: how stale the peer"
            + " is",
        all -> all.stream().mapToLong(p -> p.to().lagNanos()).max().orElse(0) / 1e9);
    metrics.perPeer(
        "behind_updates",
        "Updates that the peer has announced and that have not arrived here",
        all -> MetricList.sum(all, p -> p.from().behindUpdates()));
    metrics.perPeer(
        "in_flight_bytes",
        "Bytes of updates sent to the peer and not acknowledged",
        all -> MetricList.sum(all, p -> p.to().inFlightBytes()));
    metrics.perPeer(
        "streaming_partitions",
        "Partitions whose stream to the peer is up to date; the others wait or catch up",
        all -> all.stream().filter(p -> p.stream().equals("streaming")).count());
    heldBack(
        "horizon_held_back",
        "Partitions that cannot shorten their logs because of the peer, which has confirmed least",
        (r, dc) -> r.heldBackBy().filter(dc::equals).isPresent());
    heldBack(
        "cut_held_back",
        "Partitions where updates of a cut are held back because some of the peer's are missing",
        (r, dc) -> r.cutHeldBackBy().contains(dc));
  }

  private void heldBack(
      String name, String help, BiFunction<PartitionReport, String, Boolean> isHeldBackBy) {
    metrics.eachPeer(
        GAUGE,
        name,
        List.of(MetricList.KEYSPACE, MetricList.PEER),
        help,
        (k, dc, all, to) ->
            to.number((double) k.sum(r -> isHeldBackBy.apply(r, dc) ? 1 : 0), k.name(), dc));
  }
}
