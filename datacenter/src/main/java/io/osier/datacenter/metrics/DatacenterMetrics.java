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
        "1 if it serves; 0 if /readyz names what keeps it",
        s -> s.obstacles().isEmpty() ? 1 : 0);
    metrics.one(
        GAUGE,
        "warnings",
        "How many things do not work although it serves; /readyz names them",
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
        "How old the oldest of the partitions' figures is: over 5 s a partition does not answer",
        (s, to) ->
            s.published().forEach(k -> to.number(k.ageMillis(s.atMillis()) / 1e3, k.name())));
  }

  private void joining() {
    joining(
        "joining_partitions_complete",
        "Only while it joins: partitions that have what the others have",
        j -> j.complete());
    joining("joining_partitions", "Only while it joins: its partitions", j -> j.partitions());
    joining("joining_objects", "Only while it joins: objects that it holds", j -> j.objects());
    joining(
        "joining_objects_there",
        "Only while it joins: objects that the others hold, as they say",
        j -> j.objectsThere().orElse(0));
    joining(
        "joining_bytes",
        "Only while it joins: bytes that have come from the others since its start",
        j -> j.bytes());
    metrics.add(
        GAUGE,
        "joining_left_seconds",
        List.of(),
        "Only while it joins: until it has as many objects as the others, as fast as they came"
            + " in the last 10 s; absent where that is not known",
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
        "Until when a certificate that was read is valid, since 1970, by its subject",
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
        "Requests that could not be read",
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
        "What was refused because a user had as much as one may have: connections, requests, bytes;"
            + " port: connections that were too many for the port",
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
        "Messages that were not sent to somebody: subscriber: one that did not read, and was"
            + " closed; peer: a datacenter that is not connected, is too old, or whose link was"
            + " full",
        (s, to) -> s.clients().messages().dropped().forEach((who, count) -> to.number(count, who)));
  }

  private void forwarded() {
    metrics.add(
        COUNTER,
        "forwarded",
        List.of(MetricList.KEYSPACE, "to", "kind"),
        "Requests for keyspaces that others hold, which were sent to a datacenter that does: read,"
            + " update, scan, watch, transact",
        (s, to) ->
            s.clients()
                .elsewhere()
                .forwarded()
                .forEach(f -> to.number((double) f.count(), f.keyspace(), f.to(), f.kind())));
    metrics.add(
        HISTOGRAM,
        "forwarded_seconds",
        List.of(MetricList.KEYSPACE, "to", "kind"),
        "From when a request was sent to a datacenter that holds its keyspace until the answer"
            + " came: the way there and back, and what that one took",
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
        "Objects that others hold and of which there is a copy here, because they are read often",
        s -> s.clients().elsewhere().copies().objects());
    metrics.one(
        GAUGE,
        "copies_bytes",
        "What copies of objects that others hold take in the heap, about",
        s -> s.clients().elsewhere().copies().bytes());
    metrics.one(
        COUNTER,
        "copies_hits",
        "Reads that were answered from a copy and not forwarded",
        s -> s.clients().elsewhere().copies().hits());
    metrics.one(
        COUNTER,
        "copies_versions",
        "How often a holder has told what a copied object has become",
        s -> s.clients().elsewhere().copies().versions());
    metrics.one(
        GAUGE,
        "copies_stale_objects",
        "Objects of which there is a copy that nobody tells any more, of a keyspace with"
            + " stale-reads",
        s -> s.clients().elsewhere().copies().staleObjects());
    metrics.one(
        COUNTER,
        "copies_stale_reads",
        "Reads that were answered from such a copy, with its age, as no holder could be asked",
        s -> s.clients().elsewhere().copies().staleReads());
    metrics.add(
        COUNTER,
        "copies_misses",
        List.of("reason"),
        "Reads of copied objects that were forwarded all the same: behind: something was seen that"
            + " may not be in the copy; empty: it has just begun; order: they follow requests that"
            + " are under way",
        (s, to) ->
            s.clients().elsewhere().copies().misses().forEach((why, n) -> to.number(n, why)));
    metrics.add(
        COUNTER,
        "copies_dropped",
        List.of("reason"),
        "Copies that are no more: budget: osier.memory.copies is spent, or others save more in"
            + " their place; cut: the link to the holder was lost, or others hold the keyspace"
            + " now; refused: such an object is not copied, or the holder has no room for its key;"
            + " unworthy: its reads are not worth its changes",
        (s, to) ->
            s.clients().elsewhere().copies().dropped().forEach((why, n) -> to.number(n, why)));
  }

  private void followed() {
    metrics.one(
        GAUGE,
        "followed_objects",
        "Objects that are held here and copied by others, once for each datacenter that does",
        s -> s.clients().elsewhere().followed().objects());
    metrics.one(
        COUNTER,
        "followed_states",
        "States of such objects that were told to those who copy them. No operations are told to"
            + " them, whatever the object's mode",
        s -> s.clients().elsewhere().followed().states());
    metrics.one(
        COUNTER,
        "followed_bytes",
        "The bytes of these states, before compression",
        s -> s.clients().elsewhere().followed().bytes());
    metrics.one(
        GAUGE,
        "followed_untold_seconds",
        "How long the change has waited that has waited longest to be told to who copies the"
            + " object: with the way there, so old is the oldest copy. Half of its keyspace's δ at"
            + " most, unless somebody does not ask or something cannot be read",
        s -> s.clients().elsewhere().followed().untoldMillis() / 1e3);
  }

  private void placement() {
    demand(
        "reads", "Reads of clients here of a keyspace whose holders follow that", d -> d.reads());
    demand("updates", "Updates of clients here of such a keyspace", d -> d.updates());
    demand("moves", "How often placement altered its holders from here", d -> d.moves());
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
        "Lines of the audit log that were not written: flood: strangers caused too many; queue: the"
            + " disk is too slow; disk: it did not take them",
        (s, to) -> s.auditLost().forEach((reason, count) -> to.number(count, reason)));
    metrics.add(
        COUNTER,
        "failed_attempts",
        List.of("kind"),
        "What failed and is tried again by itself, as the log says: certificates: reading them"
            + " anew; control: telling the others what there is here; frames: encoding one for a"
            + " peer, a fault of Osier; keyspaces: opening, dropping or configuring one; peers:"
            + " taking what they send, while the disk is full; rights: passing on those of a"
            + " datacenter that goes; store: tidying up",
        (s, to) -> s.failedAttempts().forEach((what, count) -> to.number(count, what)));
  }

  private void links() {
    perLink(
        GAUGE, "peer_connected", "1 if frames can be sent to the peer", l -> l.connected() ? 1 : 0);
    perLink(
        GAUGE,
        "peer_protocol_version",
        "The version of the peer protocol in which the peer is spoken to; 0 if it is not connected",
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
        "Bytes that were not sent to the peer because what it is told is compressed",
        Snapshot.Link::savedBytes);
    metrics.add(
        GAUGE,
        "keyspace_refused",
        List.of(MetricList.KEYSPACE, MetricList.PEER),
        "1 if the peer does not take the keyspace's updates; /readyz says why",
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
