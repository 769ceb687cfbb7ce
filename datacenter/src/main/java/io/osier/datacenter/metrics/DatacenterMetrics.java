package io.osier.datacenter.metrics;

import static io.osier.datacenter.metrics.Metric.Type.COUNTER;
import static io.osier.datacenter.metrics.Metric.Type.GAUGE;
import static io.osier.datacenter.metrics.Metric.Type.HISTOGRAM;

import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/** Metrics of the datacenter as a whole: itself, its clients, its audit log, its links. */
final class DatacenterMetrics {
  private final MetricList metrics;

  private DatacenterMetrics(MetricList metrics) {
    this.metrics = metrics;
  }

  /** Adds all these metrics, in the table's order. */
  static void addTo(MetricList list) {
    DatacenterMetrics metrics = new DatacenterMetrics(list);
    metrics.datacenter();
    metrics.joining();
    metrics.certificates();
    metrics.clients();
    metrics.messages();
    metrics.forwarded();
    metrics.copies();
    metrics.followed();
    metrics.placement();
    metrics.audit();
    metrics.links();
  }

  private void datacenter() {
    metrics.add(
        GAUGE,
        "build_info",
        List.of("version"),
        "Always 1; the label says which version runs",
        (s, to) -> to.number(1, s.version()));
    metrics.one(
        GAUGE,
        "start_time_seconds",
        "When the datacenter started, since 1970",
        s -> s.startMillis() / 1e3);
    metrics.one(
        GAUGE,
        "ready",
        "1 if the datacenter serves; 0 if not: /readyz says why",
        s -> s.obstacles().isEmpty() ? 1 : 0);
    metrics.one(
        GAUGE,
        "warnings",
        "The number of warnings: what does not work although the datacenter serves; /readyz names"
            + " them",
        s -> s.warnings().size());
    metrics.one(
        COUNTER,
        "dropped_updates",
        "Updates that were acknowledged here and that no other datacenter was known to have when"
            + " their keyspace was dropped",
        Snapshot::droppedUpdates);
    metrics.add(
        GAUGE,
        "figures_age_seconds",
        List.of(MetricList.KEYSPACE),
        "The age of the oldest of the partitions' reports; above 5 s a partition does not answer",
        (s, to) ->
            s.published().forEach(k -> to.number(k.ageMillis(s.atMillis()) / 1e3, k.name())));
  }

  private void joining() {
    joining(
        "joining_partitions_complete",
        "Only while the datacenter joins: partitions that have caught up with the others",
        j -> j.complete());
    joining(
        "joining_partitions",
        "Only while the datacenter joins: all of its partitions",
        j -> j.partitions());
    joining(
        "joining_objects",
        "Only while the datacenter joins: objects that it holds already",
        j -> j.objects());
    joining(
        "joining_objects_there",
        "Only while the datacenter joins: objects that the other datacenters report to hold",
        j -> j.objectsThere().orElse(0));
    joining(
        "joining_bytes",
        "Only while the datacenter joins: bytes received from the others since its start",
        j -> j.bytes());
    metrics.add(
        GAUGE,
        "joining_left_seconds",
        List.of(),
        "Only while the datacenter joins: the estimated time until it has as many objects as the"
            + " others, at the rate of the last 10 s; absent if unknown",
        (s, to) ->
            s.joining()
                .ifPresent(j -> j.secondsLeft().ifPresent(seconds -> to.number((double) seconds))));
  }

  private void joining(String name, String help, ToDoubleFunction<Snapshot.Joining> of) {
    metrics.add(
        GAUGE,
        name,
        List.of(),
        help,
        (s, to) -> s.joining().ifPresent(j -> to.number(of.applyAsDouble(j))));
  }

  private void certificates() {
    metrics.add(
        GAUGE,
        "certificate_expiry_time_seconds",
        List.of("certificate"),
        "When a certificate that is in use expires, since 1970, by its subject",
        (s, to) -> s.certificates().forEach((subject, at) -> to.number(at.doubleValue(), subject)));
  }

  private void clients() {
    metrics.add(
        HISTOGRAM,
        "client_request_seconds",
        List.of("kind"),
        "From a request's arrival until its answer is handed over to be sent",
        (s, to) -> s.clients().requests().forEach((kind, times) -> to.times(times, kind)));
    metrics.add(
        COUNTER,
        "client_failures",
        List.of("reason"),
        "Requests that were refused or failed, by the error that the client got",
        (s, to) -> s.clients().failures().forEach((code, count) -> to.number(count, code.name())));
    metrics.one(
        COUNTER,
        "client_malformed",
        "Requests that could not be decoded",
        s -> s.clients().malformed());
    metrics.one(
        GAUGE,
        "client_connections",
        "Connections of clients that are open",
        s -> s.clients().connections());
    metrics.add(
        COUNTER,
        "client_limited",
        List.of("limit"),
        "Connections, requests and bytes of requests that were refused because their user had"
            + " reached the limit; port: connections that were refused because the port had reached"
            + " its limit",
        (s, to) -> s.clients().limited().forEach((limit, count) -> to.number(count, limit)));
  }

  private void messages() {
    metrics.one(
        GAUGE,
        "redis_subscribers",
        "Connections of Redis' protocol that subscribe to a channel or a pattern",
        s -> s.clients().messages().subscribers());
    metrics.one(
        COUNTER,
        "redis_messages_published",
        "Messages that clients have published here",
        s -> s.clients().messages().published());
    metrics.one(
        COUNTER,
        "redis_messages_received",
        "Messages that were published at other datacenters and have come here",
        s -> s.clients().messages().received());
    metrics.add(
        COUNTER,
        "redis_messages_dropped",
        List.of("reason"),
        "Published messages that were not delivered; subscriber: a subscriber did not read, and its"
            + " connection was closed; peer: another datacenter was not connected, too old, or its"
            + " link was full",
        (s, to) -> s.clients().messages().dropped().forEach((who, count) -> to.number(count, who)));
  }

  private void forwarded() {
    metrics.add(
        COUNTER,
        "forwarded",
        List.of(MetricList.KEYSPACE, "to", "kind"),
        "Requests forwarded to a datacenter that holds their keyspace, as this one does not, by"
            + " kind: read, update, scan, watch, transact",
        (s, to) ->
            s.clients()
                .elsewhere()
                .forwarded()
                .forEach(f -> to.number((double) f.count(), f.keyspace(), f.to(), f.kind())));
    metrics.add(
        HISTOGRAM,
        "forwarded_seconds",
        List.of(MetricList.KEYSPACE, "to", "kind"),
        "The time from forwarding a request to a datacenter that holds its keyspace until its"
            + " answer came: the round trip and the time there",
        (s, to) ->
            s.clients()
                .elsewhere()
                .forwarded()
                .forEach(f -> to.times(f.times(), f.keyspace(), f.to(), f.kind())));
  }

  private void copies() {
    metrics.one(
        GAUGE,
        "copies_objects",
        "Objects that other datacenters hold and of which this one keeps a copy, because they are"
            + " read often",
        s -> s.clients().elsewhere().copies().objects());
    metrics.one(
        GAUGE,
        "copies_bytes",
        "Heap that copies of other datacenters' objects take, about",
        s -> s.clients().elsewhere().copies().bytes());
    metrics.one(
        COUNTER,
        "copies_hits",
        "Reads answered from a copy instead of being forwarded",
        s -> s.clients().elsewhere().copies().hits());
    metrics.one(
        COUNTER,
        "copies_versions",
        "New states of copied objects received from the datacenters that hold them",
        s -> s.clients().elsewhere().copies().versions());
    metrics.one(
        GAUGE,
        "copies_stale_objects",
        "Copies that no holder keeps up to date any more, and that keyspaces with stale-reads still"
            + " answer from",
        s -> s.clients().elsewhere().copies().staleObjects());
    metrics.one(
        COUNTER,
        "copies_stale_reads",
        "Reads answered from a stale copy, with its age, as no holder could be asked",
        s -> s.clients().elsewhere().copies().staleReads());
    metrics.add(
        COUNTER,
        "copies_misses",
        List.of("reason"),
        "Reads of copied objects that were forwarded all the same; behind: the session has seen"
            + " updates that the copy may lack; empty: the copy has no state yet; order: earlier"
            + " requests of the session are being forwarded",
        (s, to) ->
            s.clients().elsewhere().copies().misses().forEach((why, n) -> to.number(n, why)));
    metrics.add(
        COUNTER,
        "copies_dropped",
        List.of("reason"),
        "Copies that were dropped; budget: osier.memory.copies was used up, or other copies save"
            + " more; cut: the link to the holder was lost, or the keyspace's holders changed;"
            + " refused: the holder does not let this object be copied, or has no memory to follow"
            + " it; unworthy: its changes cost more than its forwarded reads",
        (s, to) ->
            s.clients().elsewhere().copies().dropped().forEach((why, n) -> to.number(n, why)));
  }

  private void followed() {
    metrics.one(
        GAUGE,
        "followed_objects",
        "Objects held here that other datacenters copy, counted once for each of them",
        s -> s.clients().elsewhere().followed().objects());
    metrics.one(
        COUNTER,
        "followed_states",
        "States of copied objects sent to the datacenters that copy them. Copies are sent states"
            + " only, whatever the object's mode",
        s -> s.clients().elsewhere().followed().states());
    metrics.one(
        COUNTER,
        "followed_bytes",
        "Bytes of the states sent to the datacenters that copy objects, before compression",
        s -> s.clients().elsewhere().followed().bytes());
    metrics.one(
        GAUGE,
        "followed_untold_seconds",
        "How long the oldest change of a copied object has waited to be sent to a datacenter that"
            + " copies it; with the way there, the age of the oldest copy. At most half of the"
            + " keyspace's δ, unless that datacenter does not ask or the object cannot be read",
        s -> s.clients().elsewhere().followed().untoldMillis() / 1e3);
  }

  private void placement() {
    demand(
        "reads",
        "Reads by clients of this datacenter in keyspaces whose holders are placed by load"
            + " (placement = adaptive or pinned)",
        d -> d.reads());
    demand(
        "updates",
        "Updates by clients of this datacenter in keyspaces whose holders are placed by load",
        d -> d.updates());
    demand(
        "moves",
        "How often this datacenter added or removed a holder because of the load",
        d -> d.moves());
  }

  private void demand(String name, String what, ToLongFunction<Snapshot.Demand> of) {
    metrics.add(
        COUNTER,
        "placement_" + name,
        List.of(MetricList.KEYSPACE),
        what,
        (s, to) ->
            s.clients()
                .elsewhere()
                .demands()
                .forEach(d -> to.number((double) of.applyAsLong(d), d.keyspace())));
  }

  private void audit() {
    metrics.add(
        COUNTER,
        "audit_lost",
        List.of("reason"),
        "Lines of the audit log that were not written; flood: clients without a login caused too"
            + " many; queue: the disk was too slow; disk: writing failed",
        (s, to) -> s.auditLost().forEach((reason, count) -> to.number(count, reason)));
    metrics.add(
        COUNTER,
        "failed_attempts",
        List.of("kind"),
        "Tasks that failed and are tried again automatically, as the log says; certificates:"
            + " reading them again; control: sending this datacenter's state to the others; frames:"
            + " encoding one for a peer, a bug of Osier; keyspaces: opening, dropping or"
            + " configuring one; peers: storing what they send, while the disk is full; rights:"
            + " handing over those of a datacenter that leaves; store: removing obsolete data",
        (s, to) -> s.failedAttempts().forEach((what, count) -> to.number(count, what)));
  }

  private void links() {
    perLink(
        GAUGE, "peer_connected", "1 if frames can be sent to the peer", l -> l.connected() ? 1 : 0);
    perLink(
        GAUGE,
        "peer_protocol_version",
        "The version of the peer protocol on the link to the peer; 0 if it is not connected",
        Snapshot.Link::protocol);
    perLink(
        COUNTER,
        "peer_sent_bytes",
        "Bytes sent to the peer, framing included",
        Snapshot.Link::sentBytes);
    perLink(
        COUNTER,
        "peer_received_bytes",
        "Bytes received from the peer, framing included",
        Snapshot.Link::receivedBytes);
    perLink(
        COUNTER,
        "peer_saved_bytes",
        "Bytes saved on the link to the peer by compression",
        Snapshot.Link::savedBytes);
    metrics.add(
        GAUGE,
        "keyspace_refused",
        List.of(MetricList.KEYSPACE, MetricList.PEER),
        "1 if the keyspace is not replicated with the peer; /readyz says why",
        (s, to) ->
            s.published()
                .forEach(
                    k ->
                        s.links()
                            .keySet()
                            .forEach(
                                dc ->
                                    to.number(
                                        k.refusedBy().containsKey(dc) ? 1 : 0, k.name(), dc))));
  }

  private void perLink(
      Metric.Type type, String name, String help, ToDoubleFunction<Snapshot.Link> of) {
    metrics.add(
        type,
        name,
        List.of(MetricList.PEER),
        help,
        (s, to) -> s.links().forEach((dc, link) -> to.number(of.applyAsDouble(link), dc)));
  }
}
