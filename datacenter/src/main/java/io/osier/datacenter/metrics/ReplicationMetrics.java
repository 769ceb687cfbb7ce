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
        "Operations, states and catch-ups shipped, counted once for all peers",
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
        "Bytes that what the peers have confirmed takes as single operations",
        r -> r.shipped().opBytes());
    metrics.counted(
        "arrived_bytes",
        "Bytes of updates shipped that the peers have acknowledged",
        r -> r.shipped().arrivedBytes());
    metrics.gauged(
        "saved_bytes",
        "Bytes that operations alone would have cost more for what has arrived, since the start",
        r -> r.shipped().opBytes() - r.shipped().arrivedBytes());
    metrics.perKeyspace(
        GAUGE,
        "coordination_seconds",
        "μ: the time set aside for a round's acknowledgement; the largest of the partitions",
        k -> k.max(r -> r.shipped().coordinationMicros() / 1e6));
    metrics.timesPerPeer(
        "round_seconds",
        "From a round's sending until the peer has acknowledged it",
        p -> p.to().roundTimes());
  }

  private void arriving() {
    metrics.counted(
        "applied_updates", "Updates of other datacenters applied here", r -> r.arrived().applied());
    metrics.gauged(
        "waiting_updates",
        "Updates that have come and wait for the rest of their cut or what they build on",
        r -> r.arrived().waitingUpdates());
    metrics.counted(
        "gaps",
        "Missing frames or predecessors that were seen, and healed",
        r -> r.arrived().gapsSeen());
    metrics.counted(
        "healed_objects",
        "Objects received from a third datacenter, or after a gap",
        r -> r.arrived().healed());
    metrics.counted(
        "pulled_objects",
        "Large sets and maps of which what was lacking was pulled from a peer",
        r -> r.arrived().pulled());
    metrics.perKeyspace(GAUGE, "sla_seconds", "δ: the staleness bound", k -> k.slaMillis() / 1e3);
    metrics.timesPerPeer(
        "visibility_seconds",
        "From the commit of a shipment's oldest update at the peer until visible here, outages out",
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
        "For how long nothing has come from the peer although something should",
        all -> all.stream().mapToLong(p -> p.from().unheardNanos()).max().orElse(0) / 1e9);
    metrics.perPeer(
        "lag_updates",
        "Updates of this datacenter that the peer has not confirmed",
        all -> MetricList.sum(all, p -> p.to().lagUpdates()));
    metrics.perPeer(
        "lag_bytes",
        "What they take as single operations, at most, as far as they are of this life",
        all -> MetricList.sum(all, p -> p.to().lagBytes()));
    metrics.perPeer(
        "lag_seconds",
        "For how long the peer lacks the oldest of them, at most: how stale it is",
        all -> all.stream().mapToLong(p -> p.to().lagNanos()).max().orElse(0) / 1e9);
    metrics.perPeer(
        "behind_updates",
        "Updates of the peer that have not come here, as far as it tells",
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
        "Partitions whose log is kept for the peer, which has confirmed least",
        (r, dc) -> r.heldBackBy().filter(dc::equals).isPresent());
    heldBack(
        "cut_held_back",
        "Partitions where updates wait for their cut while some of the peer's are missing",
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
